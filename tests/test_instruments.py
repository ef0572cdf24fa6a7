"""A student's own instruments: what is taken from saved notebooks, and what one file of them holds."""

import importlib.util
import json

import pytest

from autograder import instruments
from autograder.build import Course

from .courses import ROOT

SETUP = "import math\nfrom math import *\n%matplotlib inline\nLIMIT = -float('inf')\nprint('setup')\nTABLE = open('x')"


def _cell(source, solution=""):
    table = {"nbgrader": {"grade_id": solution, "solution": True, "grade": False}} if solution else {}
    return {"cell_type": "code", "metadata": table, "source": source, "outputs": [], "execution_count": None}


@pytest.fixture
def save(tmp_path):
    def write(name, *cells):
        notebook = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (tmp_path / name).write_text(json.dumps(notebook))
        return tmp_path

    return write


def _imported(path):
    spec = importlib.util.spec_from_file_location("mine", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_solved_notebooks_make_one_file(tmp_path):
    names = instruments.export_instruments(tmp_path / "mine.py", Course(ROOT).solved)
    assert {"overfit_one_batch", "first_nonfinite", "audit_chain", "watch", "audit_pairs", "evaluate"} <= set(names)
    mine = _imported(tmp_path / "mine.py")
    assert mine.fate(2.0, 1.0) == "oscillate" and "autograder" not in (tmp_path / "mine.py").read_text()
    assert set(instruments.load(Course(ROOT).solved)) == set(names)


def test_nothing_of_a_released_notebook_is_solved(tmp_path):
    assert instruments.load(Course(ROOT).released) == {}
    assert instruments.export_instruments(tmp_path / "mine.py", Course(ROOT).released) == []


def test_only_what_is_used_comes_along_and_the_rest_is_not_run(save, tmp_path):
    helper = _cell("x = 3\ndef helper(t):\n    # as it was written\n    return other(t) > LIMIT\ndef other(t):\n    return t")
    folder = save("01_a.ipynb", _cell(SETUP), helper, _cell("def asked(x):\n    return helper(x)", "asked"))
    assert instruments.load(folder)["asked"](1.0) is True
    assert instruments.export_instruments(tmp_path / "mine.py", folder) == ["asked"]
    text = (tmp_path / "mine.py").read_text()
    assert "# as it was written" in text and "math" not in text and "TABLE" not in text and "x = 3" not in text
    assert _imported(tmp_path / "mine.py").asked(1.0) is True


def test_a_name_that_no_cell_defines(save, tmp_path):
    folder = save("01_a.ipynb", _cell("def asked():\n    return elsewhere", "asked"))
    with pytest.raises(ValueError, match="elsewhere"):
        instruments.export_instruments(tmp_path / "mine.py", folder)


def test_one_name_in_two_meanings_is_refused_and_two_spellings_of_an_import_are_not(save, tmp_path):
    save("01_a.ipynb", _cell("import os.path as p\ndef helper():\n    return 1"),
         _cell("def one():\n    return helper(), p", "one"))  # fmt: skip
    folder = save("02_b.ipynb", _cell("from os import path as p"), _cell("def two():\n    return p", "two"))
    assert instruments.export_instruments(tmp_path / "mine.py", folder) == ["one", "two"]
    save("02_b.ipynb", _cell("def helper():\n    return 2"), _cell("def two():\n    return helper()", "two"))
    with pytest.raises(ValueError, match="'helper' in two ways"):
        instruments.export_instruments(tmp_path / "mine.py", folder)


def test_another_file_is_not_overwritten(save, tmp_path):
    folder = save("01_a.ipynb", _cell("def one():\n    return 1", "one"))
    (tmp_path / "mine.py").write_text("precious = 1\n")
    with pytest.raises(FileExistsError):
        instruments.export_instruments(tmp_path / "mine.py", folder)


def test_files_that_cannot_be_read_count_for_nothing(save):
    folder = save("01_a.ipynb", _cell("def one():\n    return 1", "one"), _cell("def broken(:", "broken"))
    for name, content in (("02.ipynb", b"{"), ("03.ipynb", b"\xff\xfe"), ("04.ipynb", b"[]"), ("05.ipynb", b'{"cells": [1]}')):
        (folder / name).write_bytes(content)
    assert set(instruments.load(folder)) == {"one"}


def test_a_cell_that_fails_is_left_out(save):
    folder = save("01_a.ipynb", _cell("def one():\n    return 1", "one"), _cell("two = lambda: 1\n1 / 0", "two"))
    assert set(instruments.load(folder)) == {"one"}
