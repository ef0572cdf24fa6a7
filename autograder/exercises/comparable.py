"""Exercise 4.3: two logs, reduced, weighted and masked differently, brought to one unit."""

from __future__ import annotations

import random
from typing import Any, Iterator

import torch

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong

CLASSES = 4


def public() -> Iterator[Case]:
    g = torch.Generator().manual_seed(43)
    yield _case("one mean, one sum", g, ("mean", (4, 4, 1)), ("sum", (5, 2)))
    yield _case("one weighted, one with a penalty", g, ("none", (3, 2)), ("mean", (6, 1)), penalty=0.4)


def hidden(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    yield _case("batches of 9 rows and of 1 row", g, ("mean", (9, 9, 1)), ("mean", (1, 9)))
    yield _case("a sum with a penalty, and a weighted run", g, ("sum", (4, 3)), ("none", (5, 1)), penalty=0.9)
    yield _case("a batch without a scored target", g, ("mean", (3, 4, 2)), ("none", (2, 2, 2)), blank=1)
    yield _case("the last batch without a scored target", g, ("sum", (3, 4)), ("mean", (2, 2)), blank=1)
    yield _case("few scored targets", g, ("none", (4, 2)), ("mean", (8, 1)), keep=0.25, penalty=0.2)
    yield _case("every target scored", g, ("sum", (2, 7)), ("mean", (7, 2)), keep=1.0)
    yield _case("class weights from 0.1 to 10", g, ("none", (6, 3)), ("none", (1, 2)), spread=10.0)
    yield _case("two runs of one recipe", g, ("none", (3, 3)), ("none", (3, 3)))
    yield _case("one batch each", g, ("mean", (5,)), ("sum", (5,)), penalty=1.5)


def _case(
    name: str,
    g: torch.Generator,
    *recipes: tuple,
    penalty: float = 0.0,
    keep: float = 0.6,
    blank: int = -1,
    spread: float = 3.0,
) -> Case:
    """Two runs by their recipes (reduction, rows of each batch); blank: the batch without a scored target."""
    runs = [_run(g, reduction, sizes, penalty, keep, blank, spread) for reduction, sizes in recipes]
    return Case(name, tuple(log for log, _ in runs), tuple(loss for _, loss in runs))


def _run(
    g: torch.Generator,
    reduction: str,
    sizes: tuple,
    penalty: float,
    keep: float,
    blank: int,
    spread: float,
) -> tuple[dict, float]:
    """A run's log and its loss per scored target, kept in float64 beside the log."""
    weights = torch.tensor([1 / spread, 1.0, spread / 2, spread]) if reduction == "none" else None
    added = 0.0 if reduction == "none" else penalty
    batches, total, count = [], 0.0, 0
    for i, rows in enumerate(sizes):
        raw = torch.rand(rows, 5, generator=g) * (1 + 2 * i) + 0.05  # batches differ plainly in loss
        targets = torch.randint(0, CLASSES, (rows, 5), generator=g)
        mask = torch.rand(rows, 5, generator=g) < keep
        mask[0, i % 5] = True
        if i == blank:
            mask[:] = False
        total, count = total + raw[mask].double().sum().item(), count + int(mask.sum())
        batches.append(
            {
                "loss": _logged(raw, targets, mask, reduction, weights, added),
                "targets": torch.where(mask, targets, -100),
                "mask": mask,
            }
        )
    log = {"reduction": reduction, "penalty": added, "class_weights": weights, "batches": batches}
    return log, total / count


def _logged(
    raw: torch.Tensor,
    targets: torch.Tensor,
    mask: torch.Tensor,
    reduction: str,
    weights: torch.Tensor | None,
    penalty: float,
) -> torch.Tensor | float:
    if reduction == "none":
        # padding holds whatever the model said there
        return torch.where(mask, raw * weights[targets], torch.full_like(raw, 7.0))
    chosen = raw[mask].double()
    return (chosen.mean() if reduction == "mean" else chosen.sum()).item() + penalty


def judge(case: Case, answer: Any) -> Verdict:
    if type(answer) is not tuple or len(answer) != 2:
        return wrong(
            describe(answer), "a tuple of two floats, for run_a and run_b", "look at the return line"
        )
    for value in answer:
        if type(value) is not float:
            return wrong(
                f"{describe(value)} in the tuple", "two Python floats", "a 0-d tensor's number: .item()"
            )
    seen = f"run_a {answer[0]:.6g}, run_b {answer[1]:.6g}"
    for name, value, truth, log in zip(("run_a", "run_b"), answer, case.truth, case.args):
        if not abs(value - truth) <= 1e-5 * truth:
            return wrong(f"{seen}; {name} is off", _wanted(log), _look(log, value))
    return right(seen)


def _wanted(log: dict) -> str:
    parts = [f"this run logged {log['reduction']!r}"]
    if log["penalty"]:
        parts.append(f"a penalty of {log['penalty']:g} in each batch")
    if log["class_weights"] is not None:
        parts.append("class weights")
    return ", ".join(parts) + "; wanted is the plain loss per scored target over all its batches"


def _look(log: dict, value: float) -> str:
    if value != value:
        return "which batch turned the result into NaN, and how many targets are scored in it?"
    if log["class_weights"] is not None:
        return "take one scored target: which factor stands between its logged and its plain loss?"
    return "how many scored targets stand behind each batch's number, and what was added to it?"


EXERCISES = (
    Exercise(
        id="4.3",
        title="Comparable losses",
        answer="comparable_losses",
        points=4,
        minutes=8,
        level="stretch",
        claims=("4.3",),
        hints=(
            "Write down, for one batch of each run, how many scored targets stand behind the logged number.",
            "Undo each recipe as far as a plain sum over scored targets; only sums can be added across batches.",
            "Find the batch that has no scored target, and find out what it should add to a sum and to a count.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
    ),
)
