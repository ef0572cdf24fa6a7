"""Feedback on the whole session, on one page beside those of the notebooks."""

from __future__ import annotations

import contextlib
import os
import stat
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable
from urllib.parse import quote

from .analysis import OUTCOMES, outcome_of_mark
from .files import write_whole
from .pages import render
from .standing import Class, Mark, Standing

INDEX = "index.html"
NEXT = 3  # things to try next; more would be none
EXCHANGED = ("timestamp.txt", "submission_secret.txt")  # without which nbgrader releases no feedback
SIGNS = {"right": "✓", "partly right": "◐", "wrong": "✗", "not attempted": "–"}


@dataclass(frozen=True)
class Row:
    """An exercise as its student sees it. reason: what was observed in the first case that fails."""

    mark: Mark
    title: str
    sign: str
    outcome: str
    case: str
    reason: str
    look: str
    link: str


def write_session_pages(group: Class, students: Iterable[str]) -> None:
    """Write feedback/STUDENT/ASSIGNMENT/index.html, and what nbgrader's release_feedback wants beside it."""
    for student in students:
        standing = group.standings[student]
        folder = group.course.feedback / student / group.course.assignment
        folder.mkdir(parents=True, exist_ok=True)
        for name in EXCHANGED:
            _copy_small(group.course.submitted / student / group.course.assignment / name, folder / name)
        write_whole(folder / INDEX, session_page(group, standing))  # last: what has it is complete


def session_page(group: Class, standing: Standing) -> str:
    """A student's page as HTML."""
    rows = [_row(group, standing, mark) for mark in standing.marks.values()]
    notebooks: dict[str, list[Row]] = {}
    for row in rows:
        notebooks.setdefault(row.mark.place.notebook, []).append(row)
    counts = Counter(outcome_of_mark(row.mark) for row in rows)
    return render(
        "session",
        assignment=group.course.assignment,
        standing=standing,
        points=group.points,
        extra=sum(row.mark.extra for row in rows),
        counts=[(SIGNS.get(name, "!"), name, counts[name]) for name in OUTCOMES if counts[name]],
        notes=standing.result.notes if standing.result else [],
        walls=standing.entry.walls if standing.entry else True,
        next=_next(rows),
        notebooks=notebooks,
        pages={name for name in notebooks if _page(group, standing, name).is_file()},
    )


def _row(group: Class, standing: Standing, mark: Mark) -> Row:
    page = f"{quote(mark.place.notebook)}.html"
    link = f"{page}#{quote(mark.place.cell)}" if _page(group, standing, mark.place.notebook).is_file() else ""
    case, reason, look = _first_failure(mark)
    title = group.titles.get(mark.place.exercise, "")
    return Row(mark, title, SIGNS.get(mark.outcome, "!"), mark.outcome, case, reason, look, link)


def _first_failure(mark: Mark) -> tuple[str, str, str]:
    """Name, observation and where to look of the first case that fails; else what there is to say of the item."""
    if mark.item is None:
        return "", "nothing was handed in for it", ""
    if mark.outcome == "not attempted":
        reason = mark.item.notes[0] if mark.item.notes and not mark.item.cases else "the stub is as it came"
        return "", reason, f'begin with hint("{mark.place.exercise}") in the notebook'
    failing = next((case for case in mark.item.cases if not case.verdict.passed), None)
    if failing is None:
        return "", " ".join(mark.item.notes), ""
    failed = sum(not case.verdict.passed for case in mark.item.cases)
    which = f"{failed} of {len(mark.item.cases)} cases fail; the first: {failing.name}"
    return which, _brief(failing.verdict.observed), failing.verdict.look


def _brief(text: str, limit: int = 300) -> str:
    """The end of a traceback, the beginning of anything else."""
    if text.startswith("Traceback"):
        text = text.splitlines()[-1]
    return text if len(text) <= limit else text[:limit] + " …"


def _next(rows: list[Row]) -> list[Row]:
    """What was tried and is not right yet, then what was not tried: where most is to be gained."""
    open_ones = [row for row in rows if row.mark.score < row.mark.place.points]
    gain = {row.mark.place.exercise: row.mark.place.points - row.mark.score for row in open_ones}
    return sorted(open_ones, key=lambda r: (r.outcome == "not attempted", -gain[r.mark.place.exercise]))[:NEXT]


def _page(group: Class, standing: Standing, notebook: str) -> Path:
    return group.course.feedback / standing.student / group.course.assignment / f"{notebook}.html"


def _copy_small(source: Path, target: Path, limit: int = 1000) -> None:
    """Copy a small plain file of a submission, whatever else a student may have put in its place."""
    with contextlib.suppress(OSError):
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size <= limit:
                target.write_bytes(file.read(limit))
