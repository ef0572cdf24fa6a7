"""Exercise 1.5a: the smallest mean cross entropy that any model can reach on a batch."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from typing import Any, Iterable

import torch

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong

TOLERANCE = 2e-5  # float32 sums of a few hundred logarithms stay inside it; wrong formulas miss by 1e-3


def floor_of(x: torch.Tensor, y: torch.Tensor, num_classes: int, label_smoothing: float) -> float:
    """Mean entropy of the target that each distinct input has on average, in nats."""
    groups: dict[tuple, list[int]] = defaultdict(list)
    for row, label in zip(x.reshape(len(x), -1).tolist(), y.tolist()):
        groups[tuple(row)].append(label)  # -0.0 == 0.0 as keys too
    total = 0.0
    for labels in groups.values():
        counts = Counter(labels)
        for label in range(num_classes):
            share = counts[label] / len(labels)
            p = (1 - label_smoothing) * share + label_smoothing / num_classes
            total -= len(labels) * p * math.log(p) if p > 0 else 0.0
    return total / len(y)


def public() -> Iterable[Case]:
    eye = torch.eye(4)
    yield Case("four different inputs, no smoothing", (eye, torch.tensor([0, 1, 2, 0]), 3, 0.0))
    yield Case("one input twice, with two labels", (eye[[0, 0, 1, 2]], torch.tensor([0, 1, 2, 0]), 3, 0.0))
    yield Case("four different inputs, smoothing 0.1", (eye, torch.tensor([0, 1, 2, 0]), 3, 0.1))


def hidden(rng: random.Random) -> Iterable[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))

    def batch(size: int, distinct: int, classes: int, *shape: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows drawn with repetition; the first two are equal with different labels."""
        rows = torch.randn(distinct, *shape, generator=g)
        pick = torch.randint(distinct, (size,), generator=g)
        y = torch.randint(classes, (size,), generator=g)
        pick[:2], y[0], y[1] = 0, 0, 1
        order = torch.randperm(size, generator=g)
        return rows[pick[order]], y[order]

    def smoothing() -> float:
        return round(rng.uniform(0.05, 0.4), 2)

    x, y = batch(12, 5, 4, 3)
    yield Case("repeated inputs, no smoothing", (x, y, 4, 0.0))
    yield Case("repeated inputs with smoothing", (*batch(10, 4, 3, 5), 3, smoothing()))
    yield Case(
        "repeated inputs, more classes than labels seen",
        (*batch(9, 4, 3, 2), rng.randint(7, 12), smoothing()),
    )
    images, labels = batch(8, 3, 2, 1, 3, 3)
    yield Case("a batch of small images", (images, labels, 2, smoothing()))
    yield Case("repeats that agree", (x[[0, 0, 0, 1, 1]], torch.tensor([2, 2, 2, 1, 1]), 4, 0.0))
    yield Case(
        "one input and all the labels", (x[:1].expand(6, -1), torch.tensor([0, 0, 0, 1, 1, 2]), 4, 0.0)
    )
    yield Case("one example with smoothing", (x[:1], y[:1], rng.randint(5, 9), smoothing()))
    yield Case("all of the target smoothed away", (x, y, 4, 1.0))
    yield Case(
        "token ids as inputs",
        (torch.tensor([[2**24, 1], [2**24 + 1, 1], [5, 6]]), torch.tensor([0, 1, 1]), 2, 0.0),
    )
    rows = torch.randn(1, 4, generator=g, dtype=torch.float64)
    yield Case(
        "float64 inputs, close together", (torch.cat([rows, rows + 1e-12]), torch.tensor([0, 1]), 3, 0.0)
    )
    turned = torch.stack([x[0], x[0].flip(0), x[0]])
    yield Case(
        "rows with the same numbers in another order", (turned, torch.tensor([0, 1, 2]), 3, smoothing())
    )
    zeros = torch.tensor([[0.0, 1.0], [-0.0, 1.0], [2.0, 1.0]])
    yield Case("inputs with zeros in them", (zeros, torch.tensor([0, 1, 2]), 3, 0.0))
    wide, many = batch(300, 40, 6, 4)
    yield Case(
        "300 examples in a non-contiguous batch", (wide.t().contiguous().t(), many, 6, rng.choice([0.0, 0.1]))
    )
    yield Case(
        "one number per example",
        (torch.tensor([3.0, 1.0, 3.0, 2.0, 1.0]), torch.tensor([0, 1, 1, 0, 1]), 2, 0.0),
    )


def judge(case: Case, answer: Any) -> Verdict:
    x, y, num_classes, label_smoothing = case.args
    expected = "a Python float: the mean cross entropy, in nats, that no model can go below"
    if type(answer) is not float:
        return wrong(
            describe(answer),
            expected,
            "turn the number into a plain one with float(...) before you return it",
        )
    floor = floor_of(x, y, num_classes, label_smoothing)
    if math.isfinite(answer) and abs(answer - floor) <= TOLERANCE:
        return right(f"{answer:.6f}", expected)
    return wrong(f"{answer:.6f}", expected, _look(x, y, answer, floor, label_smoothing))


def _look(x: torch.Tensor, y: torch.Tensor, answer: float, floor: float, label_smoothing: float) -> str:
    if not math.isfinite(answer):
        return "a probability of zero contributes nothing to an entropy; what does 0 * log(0) give you?"
    if answer > floor:
        return (
            f"training one free logit vector for each distinct input, on these {len(y)} examples, "
            f"goes below your "
            "floor; which rows have you taken for the same input, and over how many examples do you average?"
        )
    return (
        f"no logits reach your value on these {len(y)} examples with smoothing {label_smoothing:g}; "
        "write down the averaged target of one repeated input, then its entropy"
    )


EXERCISES = (
    Exercise(
        id="1.5a",
        title="The floor of a batch",
        answer="loss_floor",
        points=2,
        minutes=6,
        level="stretch",
        claims=("1.4", "1.5"),
        hints=(
            "Start with a batch of one example: which target does label smoothing make of its label, "
            "and what "
            "is the cross entropy when the prediction equals that target exactly?",
            "A model gives equal inputs equal predictions. Which single prediction is best for two "
            "equal rows with "
            "targets t1 and t2? Check your guess with torch on a small table of free logits.",
            "Group rows with torch.unique(..., dim=0, return_inverse=True), print each group's "
            "average target, and "
            "weigh each group's entropy by the share of examples in it.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
    ),
)
