"""The course and its fixture, for the tests of build, gates and verify."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.build import ASSIGNMENT
from autograder.build.execute import execute, kernel_environment
from autograder.exercises import all_exercises

FIXTURES = Path(__file__).resolve().parent / "fixtures"
sys.path.insert(0, str(FIXTURES))
import fixture_exercise  # noqa: E402, F401 (kernels import it by this name too)

ROOT = Path(__file__).resolve().parents[1]
TEXT = (FIXTURES / "01_fixture.py").read_text(encoding="utf-8")


def make_course(root: Path, text: str = TEXT) -> Path:
    """A course of one exercise below `root`, not built yet."""
    (root / "solutions").mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    (root / "solutions" / "01_fixture.py").write_text(text, encoding="utf-8")
    return root


def solved(root: Path, name: str = "01_fixture") -> Path:
    """Where a built notebook with answers lies."""
    return root / "solutions" / ASSIGNMENT / f"{name}.ipynb"


def released(root: Path, name: str = "01_fixture") -> Path:
    """Where a student's notebook lies."""
    return root / "notebooks" / ASSIGNMENT / f"{name}.ipynb"


def read(path: Path) -> NotebookNode:
    """A notebook."""
    return nbformat.read(path, as_version=4)


def cell(nb: NotebookNode, cell_id: str) -> NotebookNode:
    """The cell of that id."""
    return next(c for c in nb.cells if c.id == cell_id)


def rerun(nb: NotebookNode) -> NotebookNode:
    """A copy of a notebook after a fresh run."""
    ran = copy.deepcopy(nb)
    stopped = execute(ran, fixed=False)
    assert not stopped, stopped
    return ran


def nbval(path: Path) -> subprocess.CompletedProcess:
    """Strict nbval on one notebook, in a process of its own."""
    environment = kernel_environment()
    places = [str(ROOT), *environment.get("PYTHONPATH", "").split(os.pathsep)]
    options = ["-p", "tests.nbval_strict", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=120", "-q", "-p", "no:cacheprovider"]
    options += [f"--nbval-sanitize-with={ROOT / 'tests' / 'nbval.cfg'}", "-c", os.devnull, "--rootdir", path.parent]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *map(str, options), str(path)],
        env={**environment, "PYTEST_ADDOPTS": "", "PYTHONPATH": os.pathsep.join(filter(None, places))},
        capture_output=True,
        text=True,
    )


@pytest.fixture(autouse=True, scope="module")
def exercises_kept():
    """The fixture's setup cell adds its exercise to the course's; other modules must not meet it."""
    yield
    all_exercises().pop(fixture_exercise.EXERCISE.id, None)
