"""3.2: logits that are far from uniform, and whose mean cross entropy is log C all the same."""

from __future__ import annotations

import math
import random
from typing import Any, Iterator

import torch
import torch.nn.functional as F

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong

TOLERANCE = 1e-5  # float32 rounds log 1000 to 5e-7, so honest work has room
SHARPNESS = 1.2  # uniform rows have exactly 1; two classes can reach 1.6 with ease


def sharpness(logits: torch.Tensor) -> float:
    """Largest probability of a row times the number of classes, averaged over the rows."""
    largest = logits.double().softmax(dim=1).amax(dim=1)
    return (largest.mean() * logits.shape[1]).item()


def judge(case: Case, answer: Any) -> Verdict:
    """Two measurements: the mean loss in float64, and how far the rows are from uniform."""
    targets, classes = case.args
    shape = (len(targets), classes)
    wanted = f"a float32 or float64 tensor of shape {shape}"
    if type(answer) is not torch.Tensor or answer.dtype not in (torch.float32, torch.float64):
        return wrong(describe(answer), wanted, "the docstring names the type and the dtype")
    if tuple(answer.shape) != shape:
        return wrong(describe(answer), wanted, "one row for each target, one column for each class")
    if not torch.isfinite(answer).all():
        return wrong(
            "logits that are not all finite", "finite logits", "which of your probabilities is exactly 0?"
        )
    loss = F.cross_entropy(answer.double(), targets).item()
    sharp = sharpness(answer)
    observed = f"mean loss {loss:.6f}; largest probability {sharp:.2f} / C on average"
    expected = (
        f"mean loss {math.log(classes):.6f} to {TOLERANCE:g}; largest probability at least {SHARPNESS} / C"
    )
    if not abs(loss - math.log(classes)) <= TOLERANCE:
        return wrong(observed, expected, "print the loss of each row: which of them sum to what?")
    if not sharp >= SHARPNESS:
        return wrong(observed, expected, "print softmax(logits): how many rows are still (almost) uniform?")
    return right(observed, expected)


def _case(targets: list[int], classes: int) -> Case:
    rows = f"{len(targets)} row{'s' if len(targets) > 1 else ''}"
    return Case(f"{rows}, {classes} classes", (torch.tensor(targets), classes))


def public() -> Iterator[Case]:
    yield _case([0, 2, 1, 2], 3)
    yield _case([1, 1, 0, 1], 2)
    yield _case([7], 10)


def hidden(rng: random.Random) -> Iterator[Case]:
    """Many and few rows, two classes to a thousand, targets balanced and all the same."""
    def draw(rows: int, classes: int) -> Case:
        return _case([rng.randrange(classes) for _ in range(rows)], classes)

    yield draw(rng.randint(5, 12), rng.randint(4, 9))
    yield draw(rng.randint(20, 64), 10)
    yield draw(1, rng.randint(3, 6))
    yield draw(2, 2)
    yield draw(rng.choice([3, 5, 7]), 2)
    yield draw(rng.choice([31, 33]), 2)
    yield draw(rng.randint(2, 9), 1000)
    yield draw(1, 1000)
    classes = rng.randint(3, 8)
    yield _case([classes - 1] * rng.randint(3, 9), classes)
    yield _case([rng.randrange(2)] * 4, 2)


EXERCISES = (
    Exercise(
        id="3.2",
        title="Log C without a uniform row",
        answer="nonuniform_logits",
        points=3,
        minutes=6,
        level="stretch",
        claims=("3.2",),
        hints=(
            "Start from what the loss reads: of each row it sees one probability only, that of its target. "
            "Print softmax(logits) beside the loss of each row, for zero logits and for a change of yours.",
            "With three classes or more, ask which probabilities of a row you may change while its loss "
            "stays the same; with two classes there are none. How do you get from probabilities to logits?",
            "A mean can be kept while its terms move. Let some rows pay less than log C and print how much "
            "is left for the others; an odd number of rows shows whether your balance is right.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
    ),
)
