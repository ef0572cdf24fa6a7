"""The one writer of the gradebook: scores, outcomes and autograded notebooks, by nbgrader's own parts."""

from __future__ import annotations

import contextlib
import fcntl
import logging
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
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import parse_utc
from sqlalchemy import func
from sqlalchemy.exc import DataError, InterfaceError, InternalError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from .. import database, nbgrader_plugin
from .cache import Cache, key_of
from .course import Course, CourseError
from .task import Graded

LOST = (OperationalError, InternalError, InterfaceError)
LONGEST = 128  # characters of a student's id in nbgrader's tables; sqlite lets more pass, others do not


class Unrecordable(ValueError):
    """A submission that this gradebook can't hold; the text says why."""


class _Transaction(Session):
    """nbgrader commits after every cell; here that only writes, and `end` commits the whole submission."""

    def commit(self) -> None:
        self.flush()
        self.expire_all()

    def end(self) -> None:
        super().commit()


class Recorder:
    """Writes one submission at a time; one that is interrupted before `finish` is recorded again. `close` it.

    Errors: CourseError for a gradebook that is not this course's, or that can't be read or written now,
    and while another grading records in this course.
    """

    def __init__(self, course: Course) -> None:
        self.course = course
        self.after_judge = _after_judge(course)
        self.marks = Cache(course.home / "cache")
        logging.getLogger("tornado.application").setLevel(logging.CRITICAL)  # nbgrader's, which prints tracebacks
        with contextlib.ExitStack() as stack:
            stack.enter_context(_alone(course.home / "lock"))
            with self._foreseen(database.ERRORS):
                self.gradebook = stack.enter_context(Gradebook(course.db_url, course.course_id))
                self.gradebook.db = scoped_session(sessionmaker(self.gradebook.engine, class_=_Transaction))
                recorded = self._recorded()
            self._check_gradebook(recorded)
            self.close = stack.pop_all().close

    def _recorded(self) -> dict[str, set[str]] | None:
        """Grade ids by notebook, as the gradebook has them."""
        try:
            notebooks = self.gradebook.find_assignment(self.course.assignment).notebooks
            return {n.name: {c.name for c in n.grade_cells} for n in notebooks}
        except MissingEntry:
            return None
        finally:
            self.gradebook.db.remove()

    def _check_gradebook(self, recorded: dict[str, set[str]] | None) -> None:
        way_out, shown = "run: make build", database.shown(self.course.db_url)
        if recorded is None:
            raise CourseError(f"the gradebook {shown} has no assignment {self.course.assignment!r}; {way_out}")
        expected = {name: _grade_cells(self.course, name) for name in self.course.notebooks()}
        if recorded != expected:
            odd = sorted(n for n in {*recorded, *expected} if recorded.get(n) != expected.get(n))
            raise CourseError(
                f"the gradebook {shown} does not belong to these notebooks (it differs on "
                f"{', '.join(odd)}); is it another course's? Otherwise {way_out}"
            )

    @contextlib.contextmanager
    def _foreseen(self, errors: tuple[type[Exception], ...] = (SQLAlchemyError,)) -> Iterator[None]:
        """A gradebook that can't be opened, or is lost on the way, is told in one sentence."""
        try:
            yield
        except errors as error:
            raise CourseError(database.why_not(self.course.db_url, error)) from None

    @contextlib.contextmanager
    def submission(self, student: str, folder: Path) -> Iterator[_Entry]:
        """Record a submission in one transaction: the gradebook holds all of it, or what it held before.

        Pages of what was recorded before go first: a resubmission never shows an older score.

        Errors: CourseError when the gradebook is lost; what was recorded before stays. Unrecordable.
        """
        if len(student) > LONGEST:
            raise Unrecordable(f"a gradebook holds no name longer than {LONGEST} characters; rename the folder")
        target = self.course.autograded / student / self.course.assignment
        partial = target.with_name(f".{target.name}.partial")
        self.marks.drop(self._mark(student))
        shutil.rmtree(self.course.feedback / student / self.course.assignment, ignore_errors=True)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            with self._foreseen(LOST):
                entry = _Entry(self, student, folder, partial)
                yield entry
                self.gradebook.db().end()
                entry.penalize()
            if target.exists():
                shutil.rmtree(target)
            partial.rename(target)
        except (InvalidEntry, DataError) as error:
            if isinstance(error.__context__, LOST):  # nbgrader takes any error of the database for a bad entry
                raise CourseError(database.why_not(self.course.db_url, error.__context__)) from None
            raise Unrecordable(f"the gradebook refuses it: {str(error).splitlines()[0]}") from None
        finally:
            self.gradebook.db.remove()  # what was not committed is rolled back
            shutil.rmtree(partial, ignore_errors=True)

    def finish(self, student: str, key: str) -> None:
        """Note that all of a submission is recorded. key: of the submission and all that graded it."""
        self.marks.put(self._mark(student), key)

    def finished(self, student: str) -> str:
        """Key of the submission that is recorded; empty while one is not recorded whole."""
        return self.marks.get(self._mark(student)) or ""

    def _mark(self, student: str) -> str:
        return key_of("recorded", self.course.assignment, student)

    def scores(self) -> dict[str, tuple[float, float]]:
        """By student, in one query, what the gradebook holds now: automatic points, and points that count."""
        with self._foreseen():
            sums = func.sum(Grade.auto_score), func.sum(Grade.score)
            rows = (
                self.gradebook.db.query(SubmittedAssignment.student_id, *sums)
                .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
                .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
                .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
                .filter(Assignment.name == self.course.assignment)
                .group_by(SubmittedAssignment.student_id)
            )
            scores = {student: (auto or 0.0, score or 0.0) for student, auto, score in rows}
            self.gradebook.db.remove()
        return scores


class _Entry:
    """A submission while it is recorded. notes: what is odd about it."""

    def __init__(self, recorder: Recorder, student: str, folder: Path, target: Path) -> None:
        self.course, self.gradebook = recorder.course, recorder.gradebook
        self.after_judge = recorder.after_judge
        self.student, self.target = student, target
        self.notes: list[str] = []
        timestamp = _timestamp(folder / "timestamp.txt", self.notes)
        self.gradebook.update_or_create_student(student)
        extra = {"timestamp": timestamp} if timestamp else {}
        submission = self.gradebook.update_or_create_submission(self.course.assignment, student, **extra)
        for notebook in submission.notebooks:
            notebook.late_submission_penalty = None
            for grade in notebook.grades:  # a score that is not this submission's never stands
                grade.auto_score = 0
                grade.needs_manual_grade = False
            for comment in notebook.comments:
                comment.auto_comment = None
        self.late = submission.total_seconds_late > 0
        self.gradebook.db.commit()

    def notebook(self, name: str, graded: Graded) -> None:
        """Record one graded notebook and keep it for feedback and formgrader."""
        resources = self._resources(name)
        resources["autograder"] = {
            "comments": nbgrader_plugin.comments(graded.items, graded.notebook),
            "gradebook": self.gradebook,
        }
        notebook = graded.notebook
        for kind in self.after_judge:
            if kind is not AssignLatePenalties:  # which comes when the scores are there
                notebook, resources = _SHARING.get(kind, kind)(config=self.course.config)(notebook, resources)
        nbformat.write(notebook, self.target / f"{name}.ipynb")

    def missing(self, name: str, reason: str) -> None:
        """A notebook that can't be graded keeps its zeros, with the reason as a comment."""
        notebook = self.gradebook.find_submission_notebook(name, self.course.assignment, self.student)
        for comment in notebook.comments:
            comment.auto_comment = reason
        self.gradebook.db.commit()

    def penalize(self) -> None:
        """Penalties for being late, which nbgrader's plugins reckon from recorded scores."""
        if self.late and AssignLatePenalties in self.after_judge:
            for name in self.course.notebooks():
                penalties = AssignLatePenalties(config=self.course.config)
                penalties(nbformat.v4.new_notebook(), self._resources(name))

    def total(self) -> tuple[float, float]:
        """(score, maximum) of the submission, as nbgrader adds it up."""
        submission = self.gradebook.find_submission(self.course.assignment, self.student)
        return submission.score, submission.max_score

    def _resources(self, name: str) -> dict:
        names = {
            "student": self.student,
            "assignment": self.course.assignment,
            "notebook": name,
            "db_url": self.course.db_url,
        }
        return {"nbgrader": names, "unique_key": name, "output_files_dir": f"{name}_files"}


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a course's lock. Errors: CourseError while another process does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(f"another grading is at work in {path.parent}; wait for its end or stop it") from None
        yield


@contextlib.contextmanager
def told(course: Course) -> Iterator[None]:
    """What a database says of itself, as one sentence. Errors: CourseError."""
    try:
        yield
    except (SQLAlchemyError, InvalidEntry) as error:  # nbgrader wraps some of them
        raise CourseError(database.why_not(course.db_url, error)) from None


class _SaveScores(SaveAutoGrades):
    """nbgrader's own, on a gradebook that is open already."""

    def preprocess(self, nb: nbformat.NotebookNode, resources: dict) -> tuple[nbformat.NotebookNode, dict]:
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id, self.student_id = (
            names[name] for name in ("notebook", "assignment", "student")
        )
        self.gradebook = resources["autograder"]["gradebook"]
        return NbGraderPreprocessor.preprocess(self, nb, resources)


_SHARING = {SaveAutoGrades: _SaveScores}


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
