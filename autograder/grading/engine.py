"""Grade a class: run and judge in worker processes, record in this one."""

from __future__ import annotations

import atexit
import multiprocessing
import os
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Iterator

from ..exercises import find
from ..item import ItemResult
from ..judge import checks_in, course_secret, seed_for
from ..sandbox import Sandbox, bubblewrap
from .course import Course
from .record import Recorder
from .run import Graded, grade_notebook
from .submissions import Submission, Unreadable, find_submissions, read


@dataclass
class StudentResult:
    """What a student has after grading. items: results by exercise id, in order."""

    student: str
    score: float
    points: float
    items: dict[str, ItemResult]
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    notebooks: int = 0


def grade_class(
    course: Course, student: str | None = None, workers: int | None = None, walls: bool = True
) -> Iterator[StudentResult]:
    """Grade every submission, one result as each is recorded. Errors: CourseError, SandboxUnavailable."""
    submissions = find_submissions(course, student)
    recorder = Recorder(course)
    secret = course_secret(course.secret)
    if walls and not bubblewrap.available():
        Sandbox(walls=True)  # raises with the way out
    context = multiprocessing.get_context("spawn")
    count = max(1, min(workers or os.cpu_count() or 1, len(submissions)))
    with ProcessPoolExecutor(count, context, initializer=_start_worker, initargs=(walls,)) as pool:
        pending = {pool.submit(_work, task): task for task in _tasks(course, submissions, secret)}
        yield from _collect(course, recorder, submissions, pending)


def _tasks(course: Course, submissions: list[Submission], secret: bytes) -> Iterator[tuple]:
    """One task a notebook. It carries that student's own seeds; a worker never sees the secret."""
    ids = {name: _exercises(course, name) for name in course.notebooks()}
    for submission in submissions:
        for name, path in list(submission.files.items()):
            try:
                restored = read(course, path, name)
            except Unreadable as error:
                submission.problems[name] = str(error)
                del submission.files[name]
                continue
            seeds = {i: seed_for(secret, submission.student, i) for i in ids[name]}
            yield (submission.student, name, restored, seeds)


def _collect(
    course: Course, recorder: Recorder, submissions: list[Submission], pending: dict[Future, tuple]
) -> Iterator[StudentResult]:
    waiting = {s.student: s for s in submissions}
    done: dict[str, dict[str, Graded]] = {s.student: {} for s in submissions}
    for student in [s for s in waiting if not waiting[s].files]:
        yield _record(course, recorder, waiting.pop(student), {})
    for future in as_completed(pending):
        student, name, *_ = pending[future]
        done[student][name] = future.result()
        if len(done[student]) == len(waiting[student].files):
            yield _record(course, recorder, waiting.pop(student), done.pop(student))


def _record(course: Course, recorder: Recorder, submission: Submission, graded: dict[str, Graded]) -> StudentResult:
    notes = [*submission.notes, *recorder.begin(submission.student, submission.folder)]
    items: dict[str, ItemResult] = {}
    for name in course.notebooks():
        if name in graded:
            recorder.notebook(submission.student, name, graded[name])
            items.update({item.id: item for item in graded[name].items.values()})
        else:
            recorder.missing(submission.student, name, submission.problems[name])
            notes.append(submission.problems[name])
            items.update({i: _absent(i, submission.problems[name]) for i in _exercises(course, name)})
    score, points = recorder.total(submission.student)
    seconds = sum(g.seconds for g in graded.values())
    return StudentResult(submission.student, score, points, items, notes, seconds, len(graded))


def _absent(exercise_id: str, reason: str) -> ItemResult:
    exercise = find(exercise_id)
    return ItemResult(exercise_id, exercise.title, exercise.points, [], 0.0, "not attempted", hidden=True, notes=[reason])


def _exercises(course: Course, name: str) -> list[str]:
    cells = [c for c in course.source_notebook(name).cells if c.metadata.get("nbgrader", {}).get("grade")]
    return [checks_in(c.source)[-1].exercise_id for c in cells]


_sandbox: Sandbox | None = None


def _start_worker(walls: bool) -> None:
    global _sandbox
    import torch

    torch.set_num_threads(1)
    _sandbox = Sandbox(walls=walls)
    atexit.register(_sandbox.close)


def _work(task: tuple) -> Graded:
    _, _, restored, seeds = task
    return grade_notebook(restored, _sandbox, seeds.__getitem__)
