"""The shape of an exercise, and the ways in which its cases add up to a score."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Callable, Iterable

from ..result import Case, CaseResult, Verdict


def mean_passed(cases: list[CaseResult]) -> float:
    """Fraction of the cases that passed."""
    return sum(case.verdict.passed for case in cases) / len(cases)


def chance_corrected(hits: list[bool], groups: list[str]) -> float:
    """Accuracy rescaled so that the best constant answer scores 0 and a perfect one 1.

    hits: whether each decision was right; groups: the true class of each.
    A false alarm weighs as much as a miss: every case counts once.
    """
    best_constant = max(groups.count(group) for group in set(groups)) / len(groups)
    if best_constant == 1:
        return float(all(hits))
    accuracy = sum(hits) / len(hits)
    return max(0.0, (accuracy - best_constant) / (1 - best_constant))


def decisions(cases: list[CaseResult]) -> float:
    """Score of an exercise whose answers are decisions; `Verdict.group` holds the true class."""
    return chance_corrected([c.verdict.passed for c in cases], [c.verdict.group for c in cases])


@dataclass(frozen=True)
class Exercise:
    """One exercise: what it asks, its cases, and its judge.

    id: as in `check(id, ...)`, by the claim it serves ("1.1", "1.5a").
    answer: the name that the student defines.
    kind: "function" (called once a case), "value" (read once, judged by every case),
        or "probe" (`probe` of autograder.probes is called with the answer and the case's
        arguments in the student's process, and what it returns is judged).
    public: cases that the student sees; hidden: fresh cases from a seeded generator.
    judge: a pure function of case and decoded answer.
    seconds: time limit of one call.
    """

    id: str
    title: str
    answer: str
    points: float
    minutes: int
    level: str
    claims: tuple[str, ...]
    hints: tuple[str, str, str]
    public: Callable[[], Iterable[Case]]
    hidden: Callable[[random.Random], Iterable[Case]]
    judge: Callable[[Case, Any], Verdict]
    score: Callable[[list[CaseResult]], float] = mean_passed
    kind: str = "function"
    probe: str = ""
    seconds: float = 10.0

    def __post_init__(self) -> None:
        if self.level not in ("core", "stretch"):
            raise ValueError(f"exercise {self.id}: level must be core or stretch, not {self.level!r}")
        if self.kind not in ("function", "value", "probe"):
            raise ValueError(f"exercise {self.id}: unknown kind {self.kind!r}")
        if len(self.hints) != 3 or not all(self.hints):
            raise ValueError(f"exercise {self.id}: three hints are wanted, none of them empty")


def wrong(observed: str, expected: str, look: str, **more: Any) -> Verdict:
    """A failing verdict."""
    return Verdict(False, observed, expected, look, **more)


def right(observed: str, expected: str = "", **more: Any) -> Verdict:
    """A passing verdict."""
    return Verdict(True, observed, expected, **more)


def describe(value: Any) -> str:
    """Name a value's type, and a tensor's shape and dtype, for a verdict."""
    import torch

    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)} and dtype {str(value.dtype).removeprefix('torch.')}"
    if value is None:
        return "None"
    if isinstance(value, (bool, int, float)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, str):
        return f"the string {value[:60]!r}"
    if isinstance(value, (list, tuple, dict)):
        return f"a {type(value).__name__} of length {len(value)}"
    name = getattr(value, "type_name", type(value).__name__)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
