"""A class of realistic submissions, and the courses in which it is graded."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable

import nbformat

from autograder.grading.course import Course

from .. import example_class
from ..example_class import answer, exercise_cells

ROOT = Path(__file__).parents[2]
ASSIGNMENT = "s19-debugging"
FOREIGN = 'c = get_config()\nc.CourseDirectory.course_id = "stock"\nc.Execute.timeout = 120\n'
SLOW = "\nimport time as _time\n_end = _time.process_time() + 1.0\nwhile _time.process_time() < _end:\n    pass\n"


def mostly_right(cells: dict) -> None:
    """Every fourth exercise is wrong, the others are answered in a second style."""
    for number, (exercise_id, cell) in enumerate(cells.items()):
        cell.source = answer(exercise_id, "wrong_" if number % 4 == 3 else "right_")


def half_wrong(cells: dict) -> None:
    """Half is done, and half of that is wrong."""
    for number, (exercise_id, cell) in enumerate(list(cells.items())[::2]):
        cell.source = answer(exercise_id, "wrong_" if number % 2 else "right_")


def slow(cells: dict) -> None:
    """Right, but one cell computes for a second in vain."""
    example_class.complete(cells)
    if "7.2" in cells:
        cells["7.2"].source += SLOW


# One of each in six: right, mostly right, half done, half of that wrong, slow, and a cell that ends its process.
KINDS: tuple[tuple[str, Callable[[dict], None]], ...] = (
    ("right", example_class.complete),
    ("mostly-right", mostly_right),
    ("half", example_class.half_done),
    ("half-wrong", half_wrong),
    ("slow", slow),
    ("crashed", example_class.kernel_dies),
)


def our_course(root: Path, notebooks: list[str] | None = None) -> Course:
    """A scratch copy of this course, of some notebooks or of all, with a gradebook."""
    _copy(root / "solutions", notebooks)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    command(root, "nbgrader", "generate_assignment", ASSIGNMENT, "--force")
    return Course.at(root)


def stock_course(root: Path, notebooks: list[str] | None = None) -> Path:
    """The same notebooks in a course that knows nothing of us."""
    _copy(root / "source", notebooks)
    (root / "nbgrader_config.py").write_text(FOREIGN)
    command(root, "nbgrader", "generate_assignment", ASSIGNMENT, "--force")
    return root


def _copy(to: Path, notebooks: list[str] | None) -> None:
    """The solved notebooks of this course, some or all."""
    folder = ROOT / "solutions" / ASSIGNMENT
    skipped = {path.name for path in folder.glob("*.ipynb") if notebooks and path.stem not in notebooks}
    shutil.copytree(folder, to / ASSIGNMENT, ignore=lambda _, names: skipped.intersection(names))


def write(course: Course, submitted: Path, students: int) -> list[str]:
    """Hand in for so many students, kind after kind; their names."""
    made = {kind: _notebooks(course, fill) for kind, fill in KINDS}
    names = []
    for number in range(students):
        kind = KINDS[number % len(KINDS)][0]
        names.append(f"{number:04d}-{kind}")
        folder = submitted / names[-1] / ASSIGNMENT
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made[kind].items():
            (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    return names


def _notebooks(course: Course, fill: Callable[[dict], None]) -> dict[str, str]:
    texts = {}
    for name in course.notebooks():
        notebook = copy.deepcopy(course.release_notebook(name))
        fill(exercise_cells(notebook))
        texts[name] = nbformat.writes(notebook)
    return texts


def command(root: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess:
    """Run one of this environment's commands in a course; its output is kept for an error only."""
    bin_folder = Path(sys.executable).parent
    done = subprocess.run(
        [str(bin_folder / words[0]), *words[1:]], cwd=root, env=environment(), capture_output=True, text=True
    )
    if check and done.returncode:
        raise SystemExit(f"{' '.join(words)} failed in {root}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def environment() -> dict[str, str]:
    """What every grader gets: this environment's commands on PATH, and one thread a process."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "COLUMNS": "120"}
