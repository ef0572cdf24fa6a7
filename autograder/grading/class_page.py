"""The instructor's report: the class on one page that holds all it shows."""

from __future__ import annotations

import statistics
from collections import Counter
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from . import figures
from .analysis import (
    FEWEST,
    OUTCOMES,
    confusions,
    item_numbers,
    needs_a_look,
    notebook_seconds,
    outcome_of_mark,
)
from .files import write_whole
from .pages import render
from .session_page import INDEX
from .standing import Class, Standing


def write_report(group: Class) -> Path:
    """Write report.html beside the submissions, whole or not at all. Returns its path."""
    path = group.course.home / "report.html"
    write_whole(path, report_page(group))
    return path


def report_page(group: Class) -> str:
    """The report as HTML."""
    students = group.handed_in
    items = item_numbers(group)
    times = {name: seconds for name, seconds in notebook_seconds(group).items() if any(seconds)}
    took = {s.student: s.result.seconds for s in students if s.result}
    return render(
        "report",
        assignment=group.course.assignment,
        course=group.course.course_id or group.course.root.name,
        made=f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}",
        unwalled=[s.student for s in group.standings.values() if s.entry and not s.entry.walls],
        numbers=_numbers(group),
        looks=needs_a_look(group),
        distribution=figures.distribution([s.score for s in students], group.points) if students else None,
        outcomes=figures.outcomes(items) if items else None,
        items=items,
        fewest=FEWEST,
        outcome_names=OUTCOMES,
        confusions=[(matrix, figures.confusion(matrix)) for matrix in confusions(group)],
        time=figures.seconds(times) if times else None,
        seconds=sum(took.values()),
        students=max(1, len(took)),
        slowest=_slowest(students, took),
        everybody=[(s, Counter(outcome_of_mark(m) for m in s.marks.values())) for s in group.standings.values()],
        links={s.student: _link(group, s) for s in group.standings.values()},
    )


def _numbers(group: Class) -> list[tuple[str, str]]:
    scores = [s.score for s in group.handed_in]
    numbers = [("handed in", f"{len(scores)} of {len(group.standings)}"), ("points", f"{group.points:g}")]
    if scores:
        numbers += [("mean", f"{statistics.fmean(scores):.1f}"), ("median", f"{statistics.median(scores):.1f}")]
        numbers += [("lowest", f"{min(scores):.1f}"), ("highest", f"{max(scores):.1f}")]
    if len(scores) > 1:
        numbers.append(("standard deviation", f"{statistics.stdev(scores):.1f}"))
    return numbers


def _slowest(students: list[Standing], took: dict[str, float], count: int = 3) -> list[tuple[Standing, float]]:
    found = sorted((s for s in students if s.student in took), key=lambda s: -took[s.student])
    return [(s, took[s.student]) for s in found[:count]]


def _link(group: Class, standing: Standing) -> str:
    """Where a student's own page lies, seen from the report; empty when there is none."""
    page = group.course.feedback / standing.student / group.course.assignment / INDEX
    return quote(page.relative_to(group.course.home).as_posix()) if page.is_file() else ""
