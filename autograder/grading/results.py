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


def read_entries(course: Course) -> list[dict]:
    """Entries of report.json as they lie there, none when there is no such file. Errors: CourseError."""
    path = path_of(course)
    try:
        return json.loads(path.read_text(encoding="utf-8"))["students"] if path.exists() else []
    except (ValueError, KeyError, TypeError):
        raise _unreadable(path) from None


def read_results(course: Course) -> dict[str, Entry]:
    """Every student's entry, by student. Errors: CourseError where nothing has been graded yet."""
    path = path_of(course)
    if not path.exists():
        raise CourseError(f"{path} does not exist: nothing has been graded yet; run: autograder grade")
    try:
        return {entry["student"]: _kept(entry) for entry in read_entries(course)}
    except (KeyError, TypeError, AttributeError, ValueError):
        raise _unreadable(path) from None


def path_of(course: Course) -> Path:
    return course.home / "report.json"


def _unreadable(path: Path) -> CourseError:
    return CourseError(f"{path} is not a report of this version; run: autograder grade --force")


def _kept(entry: dict) -> Entry:
    known = {field.name for field in fields(StudentResult)}
    values = {name: value for name, value in entry.items() if name in known}
    values["items"] = {i: _item(item) for i, item in entry["items"].items()}
    return Entry(StudentResult(**values), entry["decisions"], entry["sandbox"])


def _item(values: dict[str, Any]) -> ItemResult:
    cases = [CaseResult(**{**case, "verdict": Verdict(**case["verdict"])}) for case in values["cases"]]
    plain = {name: value for name, value in values.items() if name != "mark"}
    return ItemResult(**{**plain, "cases": cases})
