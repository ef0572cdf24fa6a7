"""How a class stands: scores from the gradebook, as formgrader shows them, beside what grading observed.

The gradebook has the last word: what was changed in formgrader after grading is in it, and in nothing else.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Iterator

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy.orm import Query

from ..judge import checks_in
from ..result import ItemResult
from .course import Course, CourseError
from .record import Recorder, told
from .restore import grade_id, is_check
from .results import Entry, read_results
from .task import StudentResult


@dataclass(frozen=True)
class Place:
    """Where an exercise is graded: notebook, its graded cell with its points, the solution cell that bears comments."""

    exercise: str
    notebook: str
    cell: str
    solution: str
    points: float


@dataclass(frozen=True)
class Mark:
    """What a student has for one exercise. score: as the gradebook has it, extra credit included.

    manual: somebody set the score by hand. review: grading changed the automatic score beneath it.
    item: what grading observed, if the report of the last grading has it.
    """

    place: Place
    score: float
    manual: bool = False
    extra: float = 0.0
    review: bool = False
    comment: str = ""
    item: ItemResult | None = None

    @property
    def outcome(self) -> str:
        return self.item.outcome if self.item else "not attempted"


@dataclass
class Standing:
    """A student's standing. score: before the penalty for being late; marks: by exercise, in order."""

    student: str
    person: dict[str, str]
    handed_in: bool = False
    score: float = 0.0
    points: float = 0.0
    penalty: float = 0.0
    timestamp: datetime | None = None
    late: float = 0.0
    marks: dict[str, Mark] = field(default_factory=dict)
    entry: Entry | None = None

    @property
    def final(self) -> float:
        """What counts: the score less the penalty, as nbgrader's own export reckons it."""
        return max(0.0, self.score - self.penalty)

    @property
    def result(self) -> StudentResult | None:
        return self.entry.result if self.entry else None


@dataclass(frozen=True)
class Class:
    """A class in one assignment. standings: by student, those of the roster who handed in nothing among them."""

    course: Course
    places: dict[str, Place]
    titles: dict[str, str]
    points: float
    duedate: datetime | None
    standings: dict[str, Standing]

    @property
    def handed_in(self) -> list[Standing]:
        return [standing for standing in self.standings.values() if standing.handed_in]

    def chosen(self, student: str | None) -> list[str]:
        """That student, or all who handed in. Errors: CourseError for one who did not."""
        names = [standing.student for standing in self.handed_in]
        if student is not None and student not in names:
            near = difflib.get_close_matches(student, names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "; see the students in the report"
            raise CourseError(f"no submission of {student!r} is in the gradebook{hint}")
        return names if student is None else [student]


def read_class(course: Course) -> Class:
    """Read gradebook and report. Errors: CourseError for a gradebook of another course, or before any grading."""
    entries = read_results(course)
    Recorder(course)  # a gradebook that is not this course's is refused
    places = {place.exercise: place for name in course.notebooks() for place in _places(course, name)}
    with told(course), Gradebook(course.db_url, course.course_id) as gradebook:
        assignment = gradebook.find_assignment(course.assignment)
        points, duedate = assignment.max_score, assignment.duedate
        standings = {s.id: Standing(s.id, _person(s), points=points) for s in gradebook.students}
        _read_submissions(gradebook, course.assignment, standings)
        _read_marks(gradebook, course.assignment, places, standings)
    for student, entry in entries.items():
        standing = standings.setdefault(student, Standing(student, {}, points=points))
        standing.entry = entry
        for exercise_id, mark in standing.marks.items():
            standing.marks[exercise_id] = replace(mark, item=entry.result.items.get(exercise_id))
    titles = {i: item.title for entry in entries.values() for i, item in entry.result.items.items()}
    return Class(course, places, titles, points, duedate, dict(sorted(standings.items())))


def _places(course: Course, name: str) -> Iterator[Place]:
    solution = ""
    for cell in course.source_notebook(name).cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            solution = grade_id(cell)
        if is_check(cell):
            points = cell.metadata.nbgrader.points
            yield Place(checks_in(cell.source)[-1].exercise_id, name, grade_id(cell), solution, points)


def _person(student: Student) -> dict[str, str]:
    names = ("first_name", "last_name", "email", "lms_user_id")
    return {name: getattr(student, name) or "" for name in names}


def _read_submissions(gradebook: Gradebook, assignment: str, standings: dict[str, Standing]) -> None:
    for submission in gradebook.assignment_submissions(assignment):
        standing = standings[submission.student_id]
        standing.handed_in = True
        standing.score, standing.penalty = submission.score, submission.late_submission_penalty
        standing.timestamp, standing.late = submission.timestamp, submission.total_seconds_late


def _read_marks(
    gradebook: Gradebook, assignment: str, places: dict[str, Place], standings: dict[str, Standing]
) -> None:
    """Every mark of the class by two queries, one of grades and one of comments."""
    comments = {
        tuple(row[:3]): row[3] or ""
        for row in _of_assignment(gradebook, Comment, assignment, Comment.manual_comment).all()
    }
    columns = (Grade.score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
    grades = {tuple(row[:3]): row[3:] for row in _of_assignment(gradebook, Grade, assignment, *columns).all()}
    for student in (standing.student for standing in standings.values() if standing.handed_in):
        for exercise_id, place in places.items():
            row = grades.get((student, place.notebook, place.cell))
            if row is None:
                continue
            score, manual, extra, review = row
            comment = comments.get((student, place.notebook, place.solution), "")
            mark = Mark(place, score, manual is not None, extra or 0.0, review, comment)
            standings[student].marks[exercise_id] = mark


def _of_assignment(gradebook: Gradebook, kind: type, assignment: str, *columns: Any) -> Query:
    """Student, notebook, cell and more columns of every grade or comment of an assignment."""
    return (
        gradebook.db.query(SubmittedAssignment.student_id, Notebook.name, BaseCell.name, *columns)
        .select_from(kind)
        .join(BaseCell, BaseCell.id == kind.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
    )
