"""Results of the last grading as report.json keeps them: read back, and what a decision was taken for."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..result import CaseResult, ItemResult, Verdict
from .course import Course, CourseError
from .task import StudentResult

UNDECIDED = "no diagnosis"
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True)
class Entry:
    """A student's entry. decisions: counts by exercise, true class and class said; walls: graded in a sandbox."""

    result: StudentResult
    decisions: dict[str, dict[str, dict[str, int]]]
    walls: bool


def decisions(item: ItemResult) -> dict[str, dict[str, int]]:
    """How often each true class was taken for each, over the hidden cases of an answer that decided any."""
    verdicts = [case.verdict for case in item.cases if case.hidden]
    if not any(verdict.said for verdict in verdicts):
        return {}
    pairs = Counter((verdict.group, verdict.said or UNDECIDED) for verdict in verdicts)
    counts: dict[str, dict[str, int]] = {}
    for (true, said), number in sorted(pairs.items()):
        counts.setdefault(true, {})[said] = number
    return counts


def read_results(course: Course) -> dict[str, Entry]:
    """Every student's entry, by student. Errors: CourseError where nothing has been graded yet."""
    path = path_of(course)
    if not path.exists():
        raise CourseError(f"{path} does not exist: nothing has been graded yet; run: autograder grade")
    try:
        return {values["student"]: _entry(values) for values in _read(path)}
    except _UNREADABLE:
        raise CourseError(f"{path} is not a report of this version; run: autograder grade --force") from None


def entries_of_others(course: Course, graded: set[str]) -> list[dict]:
    """What report.json holds of students who were not graded now and still have a submission."""
    try:
        found = _read(path_of(course))
        for values in found:
            _entry(values)
    except (OSError, *_UNREADABLE):  # an older version's; the report then has those graded now
        return []
    here = [values for values in found if (course.submitted / values["student"] / course.assignment).is_dir()]
    return [values for values in here if values["student"] not in graded]


def path_of(course: Course) -> Path:
    return course.home / "report.json"


def _read(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["students"]


def _entry(entry: dict) -> Entry:
    known = {field.name for field in fields(StudentResult)}
    values = {name: value for name, value in entry.items() if name in known}
    values["items"] = {i: _item(item) for i, item in entry["items"].items()}
    return Entry(StudentResult(**values), entry["decisions"], entry["sandbox"])


def _item(values: dict[str, Any]) -> ItemResult:
    cases = [CaseResult(**{**case, "verdict": Verdict(**case["verdict"])}) for case in values["cases"]]
    plain = {name: value for name, value in values.items() if name != "mark"}
    return ItemResult(**{**plain, "cases": cases})
