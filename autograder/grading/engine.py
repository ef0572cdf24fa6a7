"""Grade a class: run and judge on workers, record in this process, one result at a time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Iterator

from distributed import Client, Future, as_completed

from ..exercises import find
from ..judge import checks_in, course_secret, seed_for
from ..result import ItemResult
from ..sandbox import Sandbox, bubblewrap
from .cache import Cache, submission_key
from .course import Course
from .record import Recorder
from .run import Graded
from .submissions import Submission, Unreadable, find_submissions, read
from .workers import RETRIES, Crew, Task, hired, work

AHEAD = 4  # tasks queued for each worker; more would only fill memory


@dataclass
class StudentResult:
    """What a student has after grading. items: results by exercise id, in order.

    failed: notebooks that could not be graded through no fault of the student; nothing is recorded then.
    fresh: False for a submission that is as it was when it was last recorded.
    """

    student: str
    score: float
    points: float
    items: dict[str, ItemResult]
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    notebooks: int = 0
    failed: list[str] = field(default_factory=list)
    fresh: bool = True


def grade_class(
    course: Course, student: str | None = None, crew: Crew = Crew(), force: bool = False
) -> Iterator[StudentResult]:
    """Grade every submission, one result as each is recorded. Errors: CourseError, SandboxUnavailable.

    force: also those that have not changed since they were recorded.
    """
    for name in course.notebooks():
        course.release_notebook(name)  # a course that was not released is refused before any work
    submissions = find_submissions(course, student)
    recorder = Recorder(course)
    if crew.walls and not crew.scheduler and not bubblewrap.available():
        Sandbox(walls=True)  # raises with the way out
    secret = course_secret(course.secret)
    memory = _Memory(course, recorder, secret, crew.walls)
    changed = []
    for submission in submissions:
        known = memory.recall(submission)
        if known and not force:
            yield known
        else:
            changed.append(submission)
    if changed:
        with hired(crew) as client:
            for result in _Class(course, recorder, changed, secret).run(client):
                memory.keep(result)
                yield result


class _Memory:
    """Submissions that are as they were when last recorded need not be graded again."""

    def __init__(self, course: Course, recorder: Recorder, secret: bytes, walls: bool) -> None:
        self.course, self.recorder, self.secret, self.walls = course, recorder, secret, walls
        self.cache = Cache(course.home / "cache")
        self.scores = recorder.auto_scores()
        self.keys: dict[str, str] = {}

    def recall(self, submission: Submission) -> StudentResult | None:
        """The recorded result, if nothing that it hangs on has changed, the gradebook included."""
        try:
            key = submission_key(self.course, submission, self.secret, self.walls)
        except OSError:
            return None
        self.keys[submission.student] = key
        result = self.cache.get(key)
        if not isinstance(result, StudentResult) or self.recorder.finished(submission.student) != key:
            return None
        marks = sum(item.mark for item in result.items.values())
        graded = (self.course.autograded / submission.student / self.course.assignment).is_dir()
        if not graded or abs(self.scores.get(submission.student, -1.0) - marks) > 1e-6:
            return None
        return replace(result, fresh=False)

    def keep(self, result: StudentResult) -> None:
        """Remember a recorded result."""
        if result.student in self.keys and not result.failed:
            self.cache.put(self.keys[result.student], result)
            self.recorder.finish(result.student, self.keys[result.student])


class _Class:
    """The submissions of one run: those not yet recorded, and what came back of each."""

    def __init__(self, course: Course, recorder: Recorder, submissions: list[Submission], secret: bytes) -> None:
        self.course, self.recorder, self.secret = course, recorder, secret
        self.exercises = {name: exercise_ids(course, name) for name in course.notebooks()}
        self.waiting = deque(submissions)
        self.open: dict[str, Submission] = {}
        self.back: dict[str, dict[str, Graded | None]] = {}

    def run(self, client: Client) -> Iterator[StudentResult]:
        """Keep the workers busy and record what comes back, student by student."""
        tasks = self._tasks()
        flying: dict[str, tuple[str, str]] = {}
        done = as_completed()
        room = AHEAD * max(1, len(client.scheduler_info()["workers"]))
        for task in _first(tasks, room):
            self._submit(client, done, flying, task)
        yield from self._complete()
        for future in done:
            student, name = flying.pop(future.key)
            self.back[student][name] = _result(future)
            for task in _first(tasks, 1):
                self._submit(client, done, flying, task)
            yield from self._complete()

    def _submit(self, client: Client, done: as_completed, flying: dict, task: Task) -> None:
        future = client.submit(work, task, pure=False, retries=RETRIES)
        flying[future.key] = (task.student, task.notebook)
        done.add(future)

    def _tasks(self) -> Iterator[Task]:
        """One task a notebook, read only when there is room for it."""
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
                yield Task(submission.student, name, restored, seeds)

    def _complete(self) -> Iterator[StudentResult]:
        """Record every student whose notebooks are all back."""
        for student in [s for s in self.open if set(self.back[s]) == set(self.open[s].files)]:
            yield self._record(self.open.pop(student), self.back.pop(student))

    def _record(self, submission: Submission, graded: dict[str, Graded | None]) -> StudentResult:
        failed = [name for name, result in graded.items() if result is None]
        if failed:  # never a zero: the scores stay as they were, and the same command tries again
            items = {i: _empty(i, "infrastructure failure", "grade again") for n in failed for i in self.exercises[n]}
            return StudentResult(submission.student, 0.0, 0.0, items, submission.notes, failed=failed)
        notes = [*submission.notes, *self.recorder.begin(submission.student, submission.folder)]
        items: dict[str, ItemResult] = {}
        for name, ids in self.exercises.items():
            if name in graded:
                self.recorder.notebook(submission.student, name, graded[name])
                items.update({item.id: item for item in graded[name].items.values()})
                continue
            reason = submission.problems[name]
            self.recorder.missing(submission.student, name, reason)
            notes += [reason] if ids else []
            items.update({i: _empty(i, "not attempted", reason) for i in ids})
        score, points = self.recorder.total(submission.student)
        seconds = sum(g.seconds for g in graded.values())
        return StudentResult(submission.student, score, points, items, notes, seconds, len(graded))


def exercise_ids(course: Course, name: str) -> list[str]:
    """Exercises that a notebook's graded cells check, in order."""
    cells = [c for c in course.source_notebook(name).cells if c.metadata.get("nbgrader", {}).get("grade")]
    return [checks_in(c.source)[-1].exercise_id for c in cells]


def _result(future: Future) -> Graded | None:
    """A graded notebook; None when its workers died on it or a defect of ours stopped it."""
    try:
        return future.result()
    except Exception:
        return None
    finally:
        future.release()


def _first(tasks: Iterator[Task], count: int) -> Iterator[Task]:
    for _ in range(count):
        task = next(tasks, None)
        if task is None:
            return
        yield task


def _empty(exercise_id: str, outcome: str, reason: str) -> ItemResult:
    exercise = find(exercise_id)
    return ItemResult(exercise_id, exercise.title, exercise.points, [], 0.0, outcome, hidden=True, notes=[reason])
