"""How to add an exercise, as CONTRIBUTING.md tells it: its template passes every gate, and what it names is there."""

import importlib.util
import re
import shutil

import nbformat
import pytest

from autograder import verify
from autograder.build import Course, delimiters
from autograder.build.gates import text_problems
from autograder.build.text import fill, read_text
from autograder.exercises import UnknownExercise

from .conftest import ROOT
from .courses import FIXTURES

TEMPLATE = FIXTURES / "template"
HEAD = '''# %% tags=["setup"] nbgrader={"grade_id": "setup-01", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import torch

from autograder import check, hint

'''


@pytest.fixture(scope="module")
def exercise():
    spec = importlib.util.spec_from_file_location("template_exercise", TEMPLATE / "exercise.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (made,) = module.EXERCISES
    return made


def test_the_template_passes_the_gates_and_verify(exercise, tmp_path):
    """Stub, right and wrong answers and mutants of its solution, as `make verify` tries them."""

    def find(exercise_id):
        if exercise_id != exercise.id:
            raise UnknownExercise(exercise_id)
        return exercise

    course = Course(tmp_path)
    course.released.mkdir(parents=True)
    text = tmp_path / "solutions" / "01_template.py"
    text.parent.mkdir()
    text.write_text(HEAD + (TEMPLATE / "cells.py").read_text())
    nb = read_text(text)
    assert text_problems(nb, text.name, find) == []
    for cell in fill(nb, find).cells:
        stub = "\n".join(delimiters.outside(cell.source))
        cell.source = stub + "\n    raise NotImplementedError()" if cell.id == exercise.answer else stub
    nbformat.write(nb, course.released / "01_template.ipynb")
    shutil.copytree(TEMPLATE / "answers", tmp_path / "tests" / "answers" / exercise.id)
    report = verify.verify(tmp_path, {exercise.id: exercise}, seeds=(1, 2))
    assert report.good(), report.table()
    counts = report.counts()
    assert counts["right_total"] >= 4 and counts["wrong_total"] >= 8 and counts["mutants_total"] >= 6


def test_the_guide_names_files_and_commands_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"make ([a-z]+)", text)) <= targets
    for path in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"`((?:tests|autograder|solutions|notebooks)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path
    for test in re.findall(r"`(test_\w+)`", text):
        assert any(f"def {test}(" in path.read_text() for path in (ROOT / "tests").glob("test_*.py")), test
