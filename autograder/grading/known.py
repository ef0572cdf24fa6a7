"""What of an earlier run still stands: whole submissions, notebooks, single items."""

from __future__ import annotations

from dataclasses import replace

from ..judge import checks_in
from .cache import Cache, Kept, code_of, notebook_key, submission_key
from .course import Course
from .record import Recorder
from .restore import grade_id, is_check
from .submissions import Submission
from .task import Graded, StudentResult, Task


class Submissions:
    """Submissions that are as they were when last recorded need not be graded again."""

    def __init__(self, course: Course, recorder: Recorder, secret: bytes, walls: bool) -> None:
        self.course, self.recorder, self.secret, self.walls = course, recorder, secret, walls
        self.cache = Cache(course.home / "cache")
        self.scores = recorder.scores()
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
        automatic, score = self.scores.get(submission.student, (-1.0, 0.0))
        if not graded or abs(automatic - marks) > 1e-6:
            return None
        return replace(result, score=score, fresh=False)  # somebody may have changed it by hand

    def keep(self, result: StudentResult) -> None:
        """Remember a recorded result."""
        if result.student in self.keys and not result.failed:
            self.cache.put(self.keys[result.student], result)
            self.recorder.finish(result.student, self.keys[result.student])


class Notebooks:
    """Notebooks and items that need not be judged again."""

    def __init__(self, cache: Cache, walls: bool, force: bool) -> None:
        self.cache, self.walls, self.force = cache, walls, force

    def recall(self, task: Task) -> Task | Graded:
        """The graded notebook if nothing that it hangs on has changed; else the task, with the items that stand."""
        kept = None if self.force else self.cache.get(self._key(task))
        if not isinstance(kept, Kept):
            return task
        judges = _judges(task)
        if kept.judges == judges:
            return kept.graded
        standing = {g: item for g, item in kept.graded.judged.items() if kept.judges.get(g) == judges.get(g)}
        return replace(task, known=standing, whole=kept.graded.whole)

    def keep(self, task: Task, graded: Graded | None) -> None:
        """Remember a graded notebook."""
        if graded is not None:
            self.cache.put(self._key(task), Kept(graded, _judges(task)))

    def _key(self, task: Task) -> str:
        return notebook_key(task.restored, task.seeds, self.walls)


def _judges(task: Task) -> dict[str, str]:
    checks = {grade_id(c): checks_in(c.source)[-1] for c in task.restored.notebook.cells if is_check(c)}
    return {gid: code_of(check.exercise_id) for gid, check in checks.items()}
