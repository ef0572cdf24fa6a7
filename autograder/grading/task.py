"""What goes to a worker, what comes back, and what a student has of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from nbformat import NotebookNode

from ..result import ItemResult
from .restore import Restored


@dataclass(frozen=True)
class Task:
    """One submitted notebook to run and judge; neither the gradebook nor the course secret is needed for it.

    seeds: of the hidden cases, by exercise id.
    known: items that were judged before, by grade id; they are not judged again.
    whole: the lesson cells are needed, as an earlier run found.
    """

    student: str
    notebook: str
    restored: Restored
    seeds: dict[str, int]
    known: dict[str, ItemResult] = field(default_factory=dict)
    whole: bool = False


@dataclass
class Graded:
    """A graded notebook. items: results by grade id of the graded cell.

    judged: the same results as the judge left them, before what was restored is added; a cache may keep them.
    whole: lesson cells were run too. timing: seconds of each cell that ran or was judged, by cell id.
    """

    notebook: NotebookNode
    items: dict[str, ItemResult] = field(default_factory=dict)
    judged: dict[str, ItemResult] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    whole: bool = False
    seconds: float = 0.0
    timing: dict[str, float] = field(default_factory=dict)


@dataclass
class StudentResult:
    """What a student has after grading. items: results by exercise id, in order.

    timing: seconds of each cell that ran or was judged, by notebook and cell id.
    failed: notebooks that could not be graded through no fault of the student; nothing is recorded then.
    fresh: False for a submission that is as it was when it was last recorded.
    """

    student: str
    score: float
    points: float
    items: dict[str, ItemResult]
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    timing: dict[str, dict[str, float]] = field(default_factory=dict)
    notebooks: int = 0
    failed: list[str] = field(default_factory=list)
    fresh: bool = True


class Watch:
    """Whoever follows the grading of a class; this one does nothing."""

    def total(self, notebooks: int) -> None:
        """So many notebooks are to be graded."""

    def notebook(self, student: str, name: str) -> None:
        """One of them is graded."""
