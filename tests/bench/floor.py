"""The bare floor: the cells that grading runs, executed one after the other in one warm process, unprotected.

    python -m tests.bench.floor COURSE          prints the seconds that the whole class took

The same setup and student cells, then each exercise's cases with the same seeds, judged as ever; no sandbox, no
process of its own for anybody, no gradebook, no notebook read or written meanwhile.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
import warnings
from pathlib import Path

os.environ["MPLBACKEND"] = "agg"

import torch

from autograder.exercises import find
from autograder.grading.course import Course
from autograder.grading.restore import Restored, grade_id, is_check
from autograder.grading.submissions import find_submissions, read
from autograder.item import run_item
from autograder.judge import checks_in, course_secret, seed_for
from autograder.kernel import LocalAnswer


def main() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    course = Course.at(Path(sys.argv[1]))
    secret = course_secret(course.secret)
    submissions = find_submissions(course)
    work = [(s.student, read(course, path, name)) for s in submissions for name, path in s.files.items()]
    for student, restored in work[: len(submissions[0].files)]:  # warm: every lazy import has been met once
        _notebook(restored, secret, student)
    begun = time.perf_counter()
    for student, restored in work:
        _notebook(restored, secret, student)
    print(time.perf_counter() - begun)


def _notebook(restored: Restored, secret: bytes, student: str) -> None:
    names: dict = {"__name__": "__main__"}
    for number, cell in enumerate(restored.notebook.cells):
        if cell.cell_type != "code" or number in restored.lessons:
            continue
        if is_check(cell):
            check = checks_in(cell.source)[-1]
            answer = names.get(check.name, _missing)
            run_item(
                find(check.exercise_id), LocalAnswer(answer), seed_for(secret, student, check.exercise_id)
            )
            continue
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(BaseException):
            exec(compile(_plain(cell.source), str(grade_id(cell)), "exec"), names)  # noqa: S102 (it is the floor)


def _plain(source: str) -> str:
    """A cell without magics; a cell that would end this process ends here."""
    lines = [line for line in source.splitlines() if not line.lstrip().startswith("%")]
    return "\n".join(lines).replace("os._exit(1)", "raise SystemExit")


def _missing(*args: object) -> None:
    raise NotImplementedError


if __name__ == "__main__":
    main()
