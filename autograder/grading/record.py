"""The one writer of the gradebook: scores, outcomes and autograded notebooks, by nbgrader's own parts."""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
from datetime import datetime
from pathlib import Path
from typing import Iterator

import nbformat
from nbgrader.api import (
    Assignment,
    Grade,
    Gradebook,
    InvalidEntry,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.utils import parse_utc
from sqlalchemy import func
from sqlalchemy.exc import SQLAlchemyError

from .. import nbgrader_plugin
from .cache import Cache, key_of
from .course import Course, CourseError
from .files import write_whole
from .run import Graded


class Recorder:
    """Writes one submission at a time, from `begin` to `finish`; what is interrupted between is recorded again.

    Errors: CourseError for a gradebook that is not this course's, or that can't be read or written now.
    """

    def __init__(self, course: Course) -> None:
        self.course = course
        self.marks = Cache(course.home / "cache")
        logging.getLogger("tornado.application").setLevel(logging.CRITICAL)  # nbgrader's, which prints tracebacks
        self._check_gradebook()

    def _check_gradebook(self) -> None:
        way_out = "run: make build"
        try:
            with self._gradebook() as gradebook:
                assignment = gradebook.find_assignment(self.course.assignment)
                recorded = {n.name: {c.name for c in n.grade_cells} for n in assignment.notebooks}
        except MissingEntry:
            raise CourseError(
                f"the gradebook {self.course.db_url} has no assignment {self.course.assignment!r}; {way_out}"
            ) from None
        expected = {name: _grade_cells(self.course, name) for name in self.course.notebooks()}
        if recorded != expected:
            odd = sorted(n for n in {*recorded, *expected} if recorded.get(n) != expected.get(n))
            raise CourseError(
                f"the gradebook {self.course.db_url} does not belong to these notebooks (it differs on "
                f"{', '.join(odd)}); is it another course's? Otherwise {way_out}"
            )

    @contextlib.contextmanager
    def _gradebook(self) -> Iterator[Gradebook]:
        with told(self.course), Gradebook(self.course.db_url, self.course.course_id) as gradebook:
            yield gradebook

    def begin(self, student: str, folder: Path) -> list[str]:
        """Make the student's submission in the gradebook, every score at zero; what was shown before goes.

        Returns: notes.
        """
        notes: list[str] = []
        timestamp = _timestamp(folder / "timestamp.txt", notes)
        self.marks.drop(self._mark(student))
        for base in (self.course.feedback, self.course.autograded):
            if (base / student / self.course.assignment).exists():
                shutil.rmtree(base / student / self.course.assignment)
        with self._gradebook() as gradebook:
            gradebook.update_or_create_student(student)
            extra = {"timestamp": timestamp} if timestamp else {}
            submission = gradebook.update_or_create_submission(self.course.assignment, student, **extra)
            for notebook in submission.notebooks:
                for grade in notebook.grades:  # a score that is not this submission's never stands
                    grade.auto_score = 0
                    grade.needs_manual_grade = False
                for comment in notebook.comments:
                    comment.auto_comment = None
            gradebook.db.commit()
        self._target(student).mkdir(parents=True)
        return notes

    def finish(self, student: str, key: str) -> None:
        """Note that all of a submission is recorded. key: of the submission and all that graded it."""
        self.marks.put(self._mark(student), key)

    def finished(self, student: str) -> str:
        """Key of the submission that is recorded; empty while one is not recorded whole."""
        return self.marks.get(self._mark(student)) or ""

    def _mark(self, student: str) -> str:
        return key_of("recorded", self.course.assignment, student)

    def notebook(self, student: str, name: str, graded: Graded) -> None:
        """Record one graded notebook and keep it for feedback and formgrader."""
        resources = self._resources(student, name)
        resources["autograder"] = {"comments": nbgrader_plugin.comments(graded.items, graded.notebook)}
        notebook = graded.notebook
        with told(self.course):
            for kind in _after_judge(self.course):
                notebook, resources = kind(config=self.course.config)(notebook, resources)
        write_whole(self._target(student) / f"{name}.ipynb", nbformat.writes(notebook) + "\n")

    def missing(self, student: str, name: str, reason: str) -> None:
        """A notebook that can't be graded keeps its zeros, with the reason as a comment."""
        with self._gradebook() as gradebook:
            notebook = gradebook.find_submission_notebook(name, self.course.assignment, student)
            for comment in notebook.comments:
                comment.auto_comment = reason
            gradebook.db.commit()

    def auto_scores(self) -> dict[str, float]:
        """Automatic points by student, in one query: what the gradebook holds now."""
        with self._gradebook() as gradebook:
            rows = (
                gradebook.db.query(SubmittedAssignment.student_id, func.sum(Grade.auto_score))
                .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
                .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
                .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
                .filter(Assignment.name == self.course.assignment)
                .group_by(SubmittedAssignment.student_id)
            )
            return {student: score or 0.0 for student, score in rows}

    def total(self, student: str) -> tuple[float, float]:
        """(score, maximum) of a student's submission, as nbgrader adds it up."""
        with self._gradebook() as gradebook:
            submission = gradebook.find_submission(self.course.assignment, student)
            return submission.score, submission.max_score

    def _target(self, student: str) -> Path:
        return self.course.autograded / student / self.course.assignment

    def _resources(self, student: str, name: str) -> dict:
        names = {
            "student": student,
            "assignment": self.course.assignment,
            "notebook": name,
            "db_url": self.course.db_url,
        }
        return {"nbgrader": names, "unique_key": name, "output_files_dir": f"{name}_files"}


@contextlib.contextmanager
def told(course: Course) -> Iterator[None]:
    """What a database says of itself, as one sentence. Errors: CourseError."""
    try:
        yield
    except (SQLAlchemyError, InvalidEntry) as error:  # nbgrader wraps some of them
        said = _first_line(error)
        if "locked" in said:
            trouble = "is locked by another program; close it and run the same command again"
        elif "full" in said or "disk I/O" in said:
            trouble = "can't be written: no space is left; free some and run the same command again"
        else:
            trouble = f"can't be used: {said}"
        raise CourseError(f"the gradebook {course.db_url} {trouble}") from None


def _after_judge(course: Course) -> list[type]:
    """The configured preprocessors that follow the judge: nbgrader's, in nbgrader's order."""
    from traitlets.utils.importstring import import_item

    kinds = [import_item(k) if isinstance(k, str) else k for k in course.config.Autograde.autograde_preprocessors]
    return kinds[kinds.index(nbgrader_plugin.Judge) + 1 :]


def _grade_cells(course: Course, name: str) -> set[str]:
    cells = course.source_notebook(name).cells
    return {c.metadata.nbgrader.grade_id for c in cells if c.metadata.get("nbgrader", {}).get("grade")}


def _timestamp(path: Path, notes: list[str]) -> datetime | None:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 200:
        return None
    try:
        return parse_utc(path.read_text(encoding="utf-8").strip())
    except (OSError, ValueError, OverflowError):
        notes.append("timestamp.txt is not a date and was ignored")
        return None


def _first_line(error: Exception) -> str:
    return re.sub(r"\s+", " ", str(error).splitlines()[0])
