"""What a check is made of: cases, verdicts, and the item that they add up to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

OUTCOMES = (
    "right",
    "partly right",
    "wrong",
    "not attempted",
    "timed out",
    "crashed",
    "out of memory",
    "output too large",
    "infrastructure failure",
)


@dataclass(frozen=True)
class Case:
    """One question put to a student's answer.

    name: what the student may know of the case, shown in every report.
    args: positional arguments for the answer; pickled on the way down, so plain
        values, tensors, modules from torch, and `Live` objects.
    truth: whatever the judge needs; it never leaves the judge.
    """

    name: str
    args: tuple = ()
    truth: Any = None


@dataclass(frozen=True)
class Verdict:
    """What the judge says of one answer to one case.

    passed: whether the answer is right.
    observed: what came back, measured.
    expected: what was wanted, in terms that the student knows; never the answer.
    look: where to look next; empty when the answer is right.
    parts: for exercises that score parts apart, each part's own pass or fail.
    group: a label that scoring may use (the true class of a decision); never shown to students.
    said: the class that the answer decided for, where the instructor's report counts who took what for what.
    """

    passed: bool
    observed: str
    expected: str
    look: str = ""
    parts: dict[str, bool] = field(default_factory=dict)
    group: str = ""
    said: str = ""


@dataclass(frozen=True)
class CaseResult:
    """A case's name, its verdict, and how the call ended (one of OUTCOMES)."""

    name: str
    verdict: Verdict
    outcome: str = "right"
    hidden: bool = False


@dataclass
class ItemResult:
    """The result of one `check`: one graded cell of the gradebook.

    score: fraction of the points, finite, from 0 to 1.
    where: the place in which the verdict was reached, said in every report.
    """

    id: str
    title: str
    points: float
    cases: list[CaseResult]
    score: float
    outcome: str
    where: str = "this kernel"
    hidden: bool = False
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.score) and 0 <= self.score <= 1):
            raise ValueError(f"score of {self.id} must lie in [0, 1], not {self.score}")

    @property
    def mark(self) -> float:
        """Points earned: a plain finite float from 0 to `points`."""
        return round(self.score * self.points, 4)


def outcome_of(score: float, cases: list[CaseResult]) -> str:
    """The item's outcome: from its score, or from how its calls ended when nothing was right."""
    if score == 1:
        return "right"
    endings = [case.outcome for case in cases if case.outcome not in ("right", "wrong")]
    if score > 0:
        return "partly right"
    if endings:
        # the first ending is the one that a student meets first
        return endings[0]
    return "wrong"
