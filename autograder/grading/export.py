"""Scores for other programs: nbgrader's CSV, Canvas's gradebook CSV, JSON; read from the gradebook as it is now.

Text in a table is a student's or a roster's: it is quoted, can't begin a formula, and shows what is invisible.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Callable, Iterable

from ..text import printable
from .standing import Class, Standing

NBGRADER = (  # the columns of nbgrader's CsvExportPlugin, in its order
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip
FORMULA = tuple("=+-@＝＋－＠")  # what a spreadsheet takes for the beginning of one


def nbgrader_csv(group: Class) -> str:
    """What `nbgrader export` writes, quoted: every student of the roster, those without a submission with 0."""
    return _table(NBGRADER, (_nbgrader_row(group, s) for s in group.standings.values()))


def _nbgrader_row(group: Class, standing: Standing) -> list[Any]:
    names = [standing.person.get(name, "") for name in ("last_name", "first_name", "email")]
    scores = map(_plain, (standing.score, standing.penalty, standing.final, group.points))
    return [group.course.assignment, group.duedate or "", standing.timestamp or "", standing.student, *names, *scores]


def _plain(points: float) -> float:
    """Points without the noise of adding them up."""
    return round(float(points), 6)


def canvas_csv(group: Class) -> str:
    """A gradebook that Canvas imports: who has no submission has no score, and Canvas keeps what it has.

    Canvas matches students by ID (nbgrader's lms_user_id) or by SIS Login ID (their id here).
    """
    columns = ("Student", "ID", "SIS Login ID", "Section", group.course.assignment)
    possible = ["    Points Possible", "", "", "", _plain(group.points)]  # indented as in Canvas's own exports
    rows = [
        [_full_name(s), s.person.get("lms_user_id", ""), s.student, "", _plain(s.final) if s.handed_in else ""]
        for s in group.standings.values()
    ]
    return _table(columns, [possible, *rows])


def _full_name(standing: Standing) -> str:
    names = [standing.person.get(name, "") for name in ("last_name", "first_name")]
    return ", ".join(filter(None, names)) or standing.student


def grades_json(group: Class) -> str:
    """Every student with every exercise: score, points, outcome, and what was set by hand."""
    students = [
        {
            "student": s.student,
            **s.person,
            "handed_in": s.handed_in,
            "timestamp": s.timestamp and f"{s.timestamp.isoformat()}Z",
            "raw_score": _plain(s.score),
            "late_submission_penalty": _plain(s.penalty),
            "score": _plain(s.final),
            "max_score": _plain(group.points),
            "exercises": {
                i: {"score": m.score, "points": m.place.points, "outcome": m.outcome, "set_by_hand": m.manual,
                    "extra_credit": m.extra}
                for i, m in s.marks.items()
            },
        }
        for s in group.standings.values()
    ]  # fmt: skip
    return json.dumps({"assignment": group.course.assignment, "students": students}, indent=1, ensure_ascii=True) + "\n"


def _table(columns: Iterable[str], rows: Iterable[list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow([safe(name) for name in columns])
    writer.writerows([[v if isinstance(v, (int, float)) else safe(str(v)) for v in row] for row in rows])
    return text.getvalue()


def safe(text: str) -> str:
    """Text for a spreadsheet: printable, and with an apostrophe before what would begin a formula."""
    shown = printable(text)
    begins = shown.lstrip().startswith(FORMULA) or text[:1] in ("\t", "\r", "\n")
    return f"'{shown}" if begins else shown


FORMATS: dict[str, tuple[str, Callable[[Class], str]]] = {
    "nbgrader": ("csv", nbgrader_csv),
    "canvas": ("csv", canvas_csv),
    "json": ("json", grades_json),
}
