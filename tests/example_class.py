"""The example class: six submissions built from the released notebooks and kept answers.

    python tests/example_class.py          writes grading/submitted/ of this course
"""

from __future__ import annotations

import copy
import shutil
import sys
from pathlib import Path
from typing import Callable

import nbformat
from nbformat.v4 import new_code_cell

from autograder.build import register
from autograder.grading.course import Course
from autograder.judge import checks_in

ROOT = Path(__file__).resolve().parents[1]
ANSWERS = ROOT / "tests" / "answers"
SOURCE, RELEASE = "solutions/s19-debugging", "notebooks/s19-debugging"

# Turns asserts and checks into nothing and keeps tracebacks off the page: four lines that earn
# full marks wherever the absence of an error is taken for a right answer.
TRANSFORMER = '''\
import ast
class Quiet(ast.NodeTransformer):
    visit_Assert = lambda self, node: ast.copy_location(ast.Pass(), node)
    visit_Expr = lambda self, node: ast.copy_location(ast.Pass(), node) if "check(" in ast.unparse(node) else node
get_ipython().ast_transformers.append(Quiet())
get_ipython().showtraceback = lambda *args, **kwargs: None
'''

DIES = "\nimport os\nos._exit(1)\n"


def exercise_cells(notebook: nbformat.NotebookNode) -> dict[str, nbformat.NotebookNode]:
    """The solution cell of each exercise: the last one above its check."""
    cells, solution = {}, None
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        if meta.get("solution"):
            solution = cell
        if meta.get("grade"):
            cells[checks_in(cell.source)[0].exercise_id] = solution
    return cells


def answer(exercise_id: str, style: str = "right_") -> str:
    """The text of the first kept answer of that style."""
    return sorted((ANSWERS / exercise_id).glob(f"{style}*.py"))[0].read_text()


def complete(cells: dict[str, nbformat.NotebookNode]) -> None:
    for exercise_id, cell in cells.items():
        cell.source = answer(exercise_id)


def half_done(cells: dict[str, nbformat.NotebookNode]) -> None:
    for exercise_id, cell in list(cells.items())[: (len(cells) + 1) // 2]:
        cell.source = answer(exercise_id)


def plausible(cells: dict[str, nbformat.NotebookNode]) -> None:
    """Right but for the five broken runs, where a fit of one batch is taken for a proof."""
    complete(cells)
    if "9.2" in cells:
        cells["9.2"].source = answer("9.2", "wrong_one_batch")
    if "1.1" in cells:
        cells["1.1"].source = answer("1.1", "wrong_")


def kernel_dies(cells: dict[str, nbformat.NotebookNode]) -> None:
    """Right, but the cell of exercise 1.5a kills its own process when it runs."""
    complete(cells)
    if "1.5a" in cells:
        cells["1.5a"].source += DIES


STUDENTS: dict[str, Callable[[dict], None]] = {
    "assert-deleter": lambda cells: None,
    "blank": lambda cells: None,
    "complete": complete,
    "half-done": half_done,
    "kernel-dies": kernel_dies,
    "plausible": plausible,
}


def small_course(root: Path) -> Course:
    """A course of notebook 01 alone, its cells and points in the gradebook, nothing handed in yet."""
    for folder in (SOURCE, RELEASE):
        (root / folder).mkdir(parents=True)
        for path in (ROOT / folder).glob("01_*.ipynb"):
            shutil.copy(path, root / folder)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    assert register(root) == ""
    return Course.at(root)


def write(course: Course) -> list[str]:
    """Write the class into the course's submitted folder; earlier submissions of these students go."""
    for student, fill in STUDENTS.items():
        folder = course.submitted / student / course.assignment
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in course.notebooks():
            notebook = copy.deepcopy(course.release_notebook(name))
            fill(exercise_cells(notebook))
            if student == "assert-deleter":
                notebook.cells.insert(0, new_code_cell(TRANSFORMER, id="quiet"))
            nbformat.write(notebook, folder / f"{name}.ipynb")
    return list(STUDENTS)


if __name__ == "__main__":
    here = Course.at(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    print(f"{len(write(here))} submissions in {here.submitted}")
