"""Where the time of a graded notebook goes: milliseconds of each stage, in one process, one notebook at a time.

    python -m tests.bench.stages [--students 6]          the last line is JSON

A stage counts without the stages inside it; `answers called` is mostly the time of the answers themselves.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import pickle
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Iterator
from unittest import mock

import torch

from autograder.grading import run
from autograder.grading.cache import Cache
from autograder.grading.course import Course
from autograder.grading.engine import exercise_ids
from autograder.grading.known import Notebooks
from autograder.grading.record import Recorder
from autograder.grading.submissions import Submission, find_submissions, read
from autograder.grading.task import Graded, Task
from autograder.judge import course_secret, seed_for
from autograder.sandbox import Process, Sandbox

from .classes import our_course, write

# what `grade_task` calls, by stage
INSIDE = {
    "process forked": (Process, "fork"),
    "cells run": (Process, "cell"),
    "answers called": (Process, "call"),
    "process ended": (Process, "kill"),
    "cases drawn and judged": (run, "run_item"),
}


class Clock:
    """Seconds by stage. Entering one stops the clock of the stage that it is entered from."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.open = ["start"]
        self.since = time.perf_counter()

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._book()
        self.open.append(name)
        try:
            yield
        finally:
            self._book()
            self.open.pop()

    def _book(self) -> None:
        now = time.perf_counter()
        self.seconds[self.open[-1]] += now - self.since
        self.since = now

    def timed(self, name: str, function: Callable) -> Callable:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.stage(name):
                return function(*args, **kwargs)

        return inside


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.stages")
    parser.add_argument("--students", type=int, default=6, help="submissions of the whole session (default 6)")
    parser.add_argument("--notebook", action="append", help="a class in this notebook alone (default: in all)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", module=r"nbgrader\.|sqlalchemy\.")  # as the command does
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        course = our_course(Path(folder) / "course", options.notebook)
        write(course, course.submitted, options.students)
        for name, (owner, function) in INSIDE.items():
            stack.enter_context(mock.patch.object(owner, function, clock.timed(name, getattr(owner, function))))
        sandbox = stack.enter_context(Sandbox())
        recorder = stack.enter_context(contextlib.closing(Recorder(course)))
        notebooks = options.students * len(course.notebooks())
        for submission in find_submissions(course):
            _grade(course, submission, sandbox, recorder, clock)
    del clock.seconds["start"]
    figures = {name: round(1000 * seconds / notebooks, 1) for name, seconds in clock.seconds.most_common()}
    for name, spent in figures.items():
        print(f"{name:36} {spent:7.1f} ms a notebook")
    print(json.dumps({"notebooks": notebooks, "ms": figures, "all_ms": round(sum(figures.values()), 1)}))


def _grade(course: Course, submission: Submission, sandbox: Sandbox, recorder: Recorder, clock: Clock) -> None:
    """What `autograder grade` does with a submission, one stage after the other."""
    secret = course_secret(course.secret)
    cache = Notebooks(Cache(course.home / "cache"), walls=True, force=False)
    done = {}
    for name, path in submission.files.items():
        with clock.stage("read and restored"):
            restored = read(course, path, name)
            seeds = {i: seed_for(secret, submission.student, i) for i in exercise_ids(course, name)}
        with clock.stage("looked up in the cache"):
            task = cache.recall(Task(submission.student, name, restored, seeds))
        if isinstance(task, Graded):  # without exercises, a notebook is the same for everybody
            done[name] = task
            continue
        with clock.stage("to a worker and back"):
            task = pickle.loads(pickle.dumps(task))
        with clock.stage("run, all the rest"):
            graded = run.grade_task(task, sandbox)
        with clock.stage("to a worker and back"):
            done[name] = pickle.loads(pickle.dumps(graded))
        with clock.stage("kept in the cache"):
            cache.keep(task, graded)
    with clock.stage("recorded"), recorder.submission(submission.student, submission.folder) as entry:
        for name, graded in done.items():
            entry.notebook(name, graded)
        entry.total()


if __name__ == "__main__":
    main()
