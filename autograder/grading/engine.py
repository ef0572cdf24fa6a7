"""Grade a class: run and judge on workers, record in this process, one result at a time."""

from __future__ import annotations

import contextlib
import math
import time
from collections import deque
from typing import Iterator

from distributed import Client, Future, as_completed

from ..exercises import find
from ..judge import checks_in, course_secret, seed_for
from ..result import ItemResult
from ..sandbox import bubblewrap
from ..sandbox.limits import SandboxUnavailable
from .course import Course, CourseError
from .known import Notebooks, Submissions
from .record import Recorder, Unrecordable
from .restore import is_check
from .submissions import Submission, Unreadable, find_submissions, read
from .task import Graded, StudentResult, Task, Watch
from .workers import RETRIES, Crew, hired, work

AHEAD = 4  # tasks queued for each worker; more would only fill memory
SCHEDULER_LOST = "the scheduler was lost; what was recorded stays, and the same command goes on with the rest"
WORKERS_COUNTED = 5.0  # seconds between two looks at how many there are; on a cluster they come and go


def grade_class(
    course: Course, student: str | None = None, crew: Crew = Crew(), force: bool = False, watch: Watch = Watch()
) -> Iterator[StudentResult]:
    """Grade every submission, one result as each is recorded. Errors: CourseError, SandboxUnavailable.

    force: also those that have not changed since they were recorded. watch: is told of the progress.
    """
    for name in course.notebooks():
        course.release_notebook(name)  # a course that was not released is refused before any work
    submissions = find_submissions(course, student)
    with contextlib.closing(Recorder(course)) as recorder:
        if crew.walls and not crew.scheduler and not bubblewrap.available():
            raise SandboxUnavailable(bubblewrap.MISSING)
        secret = course_secret(course.secret)
        memory = Submissions(course, recorder, secret, crew.walls)
        changed = []
        for submission in submissions:
            known = memory.recall(submission)
            if known and not force:
                yield known
            else:
                changed.append(submission)
        if changed:
            watch.total(sum(len(submission.files) for submission in changed))
            known = Notebooks(memory.cache, crew.walls, force)
            with hired(crew) as client:
                for result in _Class(course, recorder, changed, secret, known).run(client, watch):
                    memory.keep(result)
                    yield result


class _Room:
    """How many tasks may be on the way: some for each worker of the moment, asked now and then."""

    def __init__(self, client: Client) -> None:
        self.client, self.asked, self.room = client, -math.inf, 0

    def now(self) -> int:
        if time.monotonic() - self.asked > WORKERS_COUNTED:
            try:
                self.room = AHEAD * max(1, len(self.client.nthreads()))
            except (OSError, RuntimeError):
                raise CourseError(SCHEDULER_LOST) from None
            self.asked = time.monotonic()
        return self.room


class _Class:
    """The submissions of one run: those not yet recorded, and what came back of each."""

    def __init__(
        self, course: Course, recorder: Recorder, submissions: list[Submission], secret: bytes, known: Notebooks
    ) -> None:
        self.course, self.recorder, self.secret, self.known = course, recorder, secret, known
        self.exercises = {name: exercise_ids(course, name) for name in course.notebooks()}
        self.waiting = deque(submissions)
        self.open: dict[str, Submission] = {}
        self.back: dict[str, dict[str, Graded | None]] = {}

    def run(self, client: Client, watch: Watch) -> Iterator[StudentResult]:
        """Keep the workers busy and record what comes back, student by student."""
        flying: dict[str, Task] = {}
        done = as_completed()
        room = _Room(client)
        tasks = self._tasks(watch)
        more = True
        while more or flying:
            while more and len(flying) < room.now():
                task = next(tasks, None)
                more = task is not None
                if isinstance(task, Task):
                    future = client.submit(work, task, self.known.walls, pure=False, retries=RETRIES)
                    flying[future.key] = task
                    done.add(future)
                yield from self._complete()
            if flying:
                future = next(done)
                cancelled = future.cancelled()  # nobody would, but a client that lost its scheduler
                task, graded = flying.pop(future.key), _result(future)
                if graded is None and (cancelled or client.status != "running"):
                    raise CourseError(SCHEDULER_LOST)
                self.back[task.student][task.notebook] = graded
                self.known.keep(task, graded)
                watch.notebook(task.student, task.notebook)
                yield from self._complete()

    def _tasks(self, watch: Watch) -> Iterator[Task | str]:
        """A task for each notebook that must be run, read only when there is room for it.

        After the last of a submission comes its student's name: it may be that nothing is left to run.
        """
        while self.waiting:
            submission = self.waiting.popleft()
            found = []
            for name, path in list(submission.files.items()):
                try:
                    found.append((name, read(self.course, path, name)))
                except Unreadable as error:
                    submission.problems[name] = str(error)
                    del submission.files[name]
            self.open[submission.student] = submission
            self.back[submission.student] = {}
            for name, restored in found:
                seeds = {i: seed_for(self.secret, submission.student, i) for i in self.exercises[name]}
                task = self.known.recall(Task(submission.student, name, restored, seeds))
                if isinstance(task, Graded):
                    self.back[submission.student][name] = task
                    watch.notebook(submission.student, name)
                else:
                    yield task
            yield submission.student

    def _complete(self) -> Iterator[StudentResult]:
        """Record every student whose notebooks are all back."""
        for student in [s for s in self.open if set(self.back[s]) == set(self.open[s].files)]:
            submission, graded = self.open.pop(student), self.back.pop(student)
            try:
                yield self._record(submission, graded)
            except Unrecordable as error:
                notes = [*submission.notes, str(error)]
                yield StudentResult(student, 0.0, 0.0, {}, notes, failed=list(self.exercises))

    def _record(self, submission: Submission, graded: dict[str, Graded | None]) -> StudentResult:
        failed = [name for name, result in graded.items() if result is None]
        if failed:  # never a zero: the scores stay as they were, and the same command tries again
            items = {i: _empty(i, "infrastructure failure", "grade again") for n in failed for i in self.exercises[n]}
            return StudentResult(submission.student, 0.0, 0.0, items, submission.notes, failed=failed)
        items: dict[str, ItemResult] = {}
        with self.recorder.submission(submission.student, submission.folder) as entry:
            notes = [*submission.notes, *entry.notes]
            for name, ids in self.exercises.items():
                if name in graded:
                    entry.notebook(name, graded[name])
                    items.update({item.id: item for item in graded[name].items.values()})
                    continue
                reason = submission.problems[name]
                entry.missing(name, reason)
                notes += [reason] if ids else []
                items.update({i: _empty(i, "not attempted", reason) for i in ids})
            score, points = entry.total()
        seconds = sum(g.seconds for g in graded.values())
        timing = {name: g.timing for name, g in graded.items()}
        return StudentResult(submission.student, score, points, items, notes, seconds, timing, len(graded))


def exercise_ids(course: Course, name: str) -> list[str]:
    """Exercises that a notebook's graded cells check, in order."""
    return [checks_in(c.source)[-1].exercise_id for c in course.source_notebook(name).cells if is_check(c)]


def _result(future: Future) -> Graded | None:
    """A graded notebook; None when its workers died on it or a defect of ours stopped it."""
    try:
        return future.result()
    except Exception:
        return None
    finally:
        future.release()


def _empty(exercise_id: str, outcome: str, reason: str) -> ItemResult:
    exercise = find(exercise_id)
    return ItemResult(exercise_id, exercise.title, exercise.points, [], 0.0, outcome, hidden=True, notes=[reason])
