"""A course of three exercises in a scratch folder, with a canary in everything that students must not read."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Iterator

import nbformat
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.exercises import all_exercises, find
from autograder.exercises.base import Exercise, decisions, describe, right, wrong
from autograder.grading.course import Course
from autograder.live import Live
from autograder.result import Case

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT, NOTEBOOK = "s19", "01_small"
FLOOR, SCALE, FAULT = "1.5a", "0.5", "0.6"
IDS = (FLOOR, SCALE, FAULT)
CANARIES = {
    "truth": "canary-of-a-truth",
    "source": "canary-of-the-source",
    "gradebook": "canary-of-the-gradebook",
    "neighbor": "canary-of-a-neighbor",
    "environment": "canary-of-the-environment",
}
INPUT = 424242.5  # stands in every hidden input of SCALE; what a student is told of an error must not quote it
SECONDS = 8.0  # generous: a fork bomb may be running on the other core


def _scaled(name: str, values: list[float], factor: float) -> Case:
    x = torch.tensor(values)
    return Case(name, (x, factor), {"value": x * factor, "note": CANARIES["truth"]})


def _judge_scale(case: Case, answer: Any) -> Any:
    wanted = "a tensor: every value times k"
    if not isinstance(answer, torch.Tensor) or answer.dtype != torch.float32 or answer.shape != case.args[0].shape:
        return wrong(describe(answer), wanted, "compare type, dtype and shape")
    far = (answer - case.truth["value"]).abs().max().item()
    return right("equal") if far == 0 else wrong(f"off by {far:.3g}", wanted, "try one value by hand")


class Machine(Live):
    """Answers `measure(x)`; what is wrong with it stays in the judge."""

    asks = ("measure",)

    def __init__(self, slope: float) -> None:
        self.slope, self.note = slope, CANARIES["truth"]

    def measure(self, x: float) -> float:
        return self.slope * x


def _machine(slope: float) -> Case:
    return Case("a machine", (Machine(slope),), "reversed" if slope < 0 else "fine")


def _judge_fault(case: Case, answer: Any) -> Any:
    said = describe(answer)
    if answer == case.truth and type(answer) is str:
        return right(said, group=case.truth)
    return wrong(said, "'fine' or 'reversed'", "measure something", group=case.truth)


_SHARED = dict(points=4, minutes=1, level="core", claims=(), hints=("Look.", "Measure.", "Think."), seconds=SECONDS)
EXERCISES = (
    Exercise(
        id=SCALE, title="Scale a tensor", answer="scale", judge=_judge_scale,
        public=lambda: [_scaled("two values", [1.0, 2.0], 3.0)],
        hidden=lambda rng: [_scaled("hidden values", [INPUT, rng.uniform(-9, 9)], rng.uniform(2, 9)) for _ in range(4)],
        **_SHARED,
    ),
    Exercise(
        id=FAULT, title="Find the fault", answer="find_fault", judge=_judge_fault, score=decisions,
        public=lambda: [_machine(2.0), _machine(-2.0)],
        hidden=lambda rng: [_machine(rng.choice((-1, 1)) * rng.uniform(1, 9)) for _ in range(5)] + [_machine(1.0), _machine(-1.0)],
        **_SHARED,
    ),
)  # fmt: skip

ANSWERS = {
    FLOOR: (ROOT / "tests/answers/1.5a/right_dict_of_rows.py").read_text(encoding="utf-8"),
    SCALE: "def scale(x, k):\n    return x * k\n",
    FAULT: "def find_fault(run):\n    return 'fine' if run.measure(1.0) > 0 else 'reversed'\n",
}
STUBS = {
    FLOOR: "def loss_floor(x, y, num_classes, label_smoothing):",
    SCALE: "def scale(x, k):",
    FAULT: "def find_fault(run):",
}


@contextlib.contextmanager
def registered() -> Iterator[None]:
    """The exercises of this course, in this process."""
    every = all_exercises()
    kept = dict(every)
    every.update({e.id: e for e in EXERCISES})
    every[FLOOR] = replace(find(FLOOR), seconds=SECONDS)
    os.environ["ADVERSARIAL_TOKEN"] = CANARIES["environment"]
    try:
        yield
    finally:
        every.clear()
        every.update(kept)
        del os.environ["ADVERSARIAL_TOKEN"]


def _meta(gid: str, **flags: Any) -> dict:
    base = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {"grade_id": gid, **base, **flags}}


def _cells() -> list:
    cells = [
        new_markdown_cell("# A lesson with *text* and $x^2$", id="lesson"),
        new_code_cell(
            "import torch\nfrom torch import nn\n\nfrom autograder import check, hint", id="setup",
            metadata=_meta("setup", locked=True),
        ),
        new_code_cell("from_the_lesson = 3.0", id="lesson-code"),
    ]  # fmt: skip
    for exercise_id in IDS:
        name = all_exercises()[exercise_id].answer
        answer = ANSWERS[exercise_id].split("def ", 1)[1].split("\n", 1)[1]
        before = ANSWERS[exercise_id].split("def ", 1)[0]
        source = f"{before}{STUBS[exercise_id]}\n    ### BEGIN SOLUTION\n    # {CANARIES['source']}\n{answer.rstrip()}\n    ### END SOLUTION"
        checks = f'check("{exercise_id}", {name})\n### BEGIN HIDDEN TESTS\ncheck("{exercise_id}", {name}, hidden=True)\n### END HIDDEN TESTS'
        graded = _meta(f"check-{exercise_id.replace('.', '-')}", grade=True, locked=True, points=_points(exercise_id))
        cells.append(new_code_cell(source, id=name, metadata=_meta(name, solution=True)))
        cells.append(new_code_cell(checks, id=f"check-{name}", metadata=graded))
    return cells


def _points(exercise_id: str) -> float:
    return all_exercises()[exercise_id].points


def make(root: Path, config: str | None = None) -> Course | None:
    """Write and release the course below `root`, which has our configuration or the one given."""
    root.mkdir(parents=True)
    if config is None:
        shutil.copy(ROOT / "nbgrader_config.py", root)
    else:
        (root / "nbgrader_config.py").write_text(config, encoding="utf-8")
    source = root / ("solutions" if config is None else "source") / ASSIGNMENT
    source.mkdir(parents=True)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(new_notebook(cells=_cells(), metadata=kernel), source / f"{NOTEBOOK}.ipynb")
    nbgrader = [Path(sys.executable).parent / "nbgrader", "generate_assignment", ASSIGNMENT]
    done = subprocess.run(nbgrader, cwd=root, capture_output=True, text=True, env=_environment())
    assert done.returncode == 0, done.stderr[-2000:]
    if config is not None:
        return None
    course = Course.at(root, ASSIGNMENT)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.add_student("someone", first_name=CANARIES["gradebook"])
    return course


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
