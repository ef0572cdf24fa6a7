"""What students get holds no answer and needs nothing else; what they hand in comes whole."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbgrader.utils import parse_utc
from packaging.requirements import Requirement

from autograder import ASSIGNMENT
from autograder.build import BuildError, Course
from autograder.build.handout import hand_out
from autograder.build.leaks import HIDDEN, PLACE, SECRET, SOLUTION, leaks
from autograder.exercises import all_exercises
from autograder.handin import MAX_BYTES, NothingToHandIn, absent, drafts, pack

from . import example_class
from .conftest import ROOT, needs_bubblewrap


@pytest.fixture(scope="module")
def root(course_root, tmp_path_factory):
    """A course to release from, graded once so that it has a secret."""
    made = tmp_path_factory.mktemp("release") / "course"
    shutil.copytree(course_root, made)
    for name in ("LICENSE", "LICENSE-text", "environment.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, made)
    (made / "grading").mkdir(exist_ok=True)
    (made / "grading" / "secret").write_text("5ec7e7" * 10)
    return made


@pytest.fixture(scope="module")
def released(root):
    """(folder, zip)"""
    return hand_out(root)


@pytest.fixture(scope="module")
def alone(released, tmp_path_factory):
    """The zip, unpacked elsewhere."""
    place = tmp_path_factory.mktemp("student")
    with zipfile.ZipFile(released[1]) as archive:
        archive.extractall(place)
    return place / ASSIGNMENT


def command(folder, *words):
    """`python -m autograder` in a folder, with nothing of this repository on the path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-m", "autograder", *words], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_the_zip_is_the_folder_and_the_same_every_time(root, released):
    folder, archive = released
    first = archive.read_bytes()
    files = {f"{ASSIGNMENT}/{p.relative_to(folder).as_posix()}": p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    with zipfile.ZipFile(archive) as opened:
        assert {name: opened.read(name) for name in opened.namelist()} == files
    os.utime(root / "LICENSE", (1, 1))
    assert hand_out(root)[1].read_bytes() == first
    assert sorted(p.name for p in archive.parent.iterdir()) == [ASSIGNMENT, f"{ASSIGNMENT}.zip"]


def test_nothing_of_staff_goes_along(released):
    names = {p.relative_to(released[0]).as_posix() for p in released[0].rglob("*")}
    notebooks = {p.name for p in (ROOT / "notebooks" / ASSIGNMENT).iterdir()}
    assert {n for n in names if "/" not in n} == notebooks | {
        "autograder", "README.md", "LICENSE", "LICENSE-text", "environment.yml", "requirements.txt"
    }  # fmt: skip
    forbidden = re.compile(r"(^|/)(solutions|tests|grading|build|judge|sandbox|verify|nbgrader_\w+|claims\.yml|secret|\w+\.db)(/|$|\.py)")
    assert [n for n in names if forbidden.search(n)] == []
    commands = {n.rpartition("/")[2] for n in names if n.startswith("autograder/commands/")}
    assert commands == {"__init__.py", "doctor.py", "submit.py"}


def test_no_line_that_only_answers_hold_is_in_it(released):
    """Kept right answers and solutions, line by line, against what students open."""
    opened = "\n".join(
        "".join(cell["source"])
        for path in released[0].glob("*.ipynb")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    )
    shown = {"".join(line.split()) for line in opened.splitlines()}
    for path in sorted((ROOT / "solutions").glob("*.py")):
        for block in re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", path.read_text(encoding="utf-8"), re.S):
            lines = ["".join(line.split()) for line in block.splitlines() if len("".join(line.split())) > 12]
            assert not lines or sum(line in shown for line in lines) < max(2, len(lines)), (path.name, block)
    assert "HIDDEN TESTS" not in opened and "hidden=True" not in opened


def test_all_that_it_imports_a_student_has(released):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    theirs = {Requirement(line).name for line in project["dependencies"]} | {"IPython", "autograder"}
    for path in released[0].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            strangers = {n.partition(".")[0] for n in names} - theirs - set(sys.stdlib_module_names)
            assert not strangers, (path.name, strangers)


@pytest.mark.parametrize("where", ["a notebook", "the package", "the readme"])
def test_a_planted_solution_is_found(root, released, tmp_path, where):
    folder = tmp_path / ASSIGNMENT
    shutil.copytree(released[0], folder)
    course = Course(root)
    assert leaks(course, folder) == []
    solved = nbformat.read(course.solved / "01_overfit_one_batch.ipynb", as_version=4)
    code = next(c.source for c in solved.cells if "def overfit_one_batch" in c.source)
    answer = re.search(r"### BEGIN SOLUTION\n(.*)### END SOLUTION", code, re.S)[1]
    if where == "a notebook":
        path = folder / "00_what_debugging_tests.ipynb"
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.append(nbformat.v4.new_code_cell(f"def f():\n{answer}"))
        nbformat.write(notebook, path)
    else:
        path = folder / ("autograder/kernel.py" if where == "the package" else "README.md")
        path.write_text(path.read_text() + answer)
    (problem,) = leaks(course, folder)
    assert path.name in str(problem) and "01_overfit_one_batch.ipynb" in str(problem)


PLANTED = {
    "the secret": (SECRET, lambda root: (root / "grading" / "secret").read_text()),
    "a hidden test": (HIDDEN, lambda root: 'check( "1.1", overfit_one_batch, hidden = True )'),
    "the course's place": (PLACE, lambda root: f"see {root}/grading"),
    "somebody's home": (PLACE, lambda root: 'File "/home/ada/course/x.py", line 1'),
    "a kernel's file": (PLACE, lambda root: "/tmp/ipykernel_4711/1.py:3: UserWarning"),
}


@pytest.mark.parametrize("what", PLANTED)
def test_what_is_planted_in_a_folder_or_in_its_zip_is_found(root, released, tmp_path, what):
    folder, course = tmp_path / ASSIGNMENT, Course(root)
    shutil.copytree(released[0], folder)
    kind, text = PLANTED[what][0], PLANTED[what][1](root)
    (folder / "autograder" / "notes.txt").write_text(text)
    (problem,) = leaks(course, folder)
    assert problem.file == "autograder/notes.txt"
    assert leaks(course, folder, tuple(k for k in (SECRET, SOLUTION, HIDDEN, PLACE) if k != kind)) == []
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, ASSIGNMENT))
    (packed,) = leaks(course, archive)
    assert packed.text == problem.text and packed.file.endswith("notes.txt")


def test_the_zip_and_the_package_leak_nothing(root, released, tmp_path):
    assert leaks(Course(root), released[1]) == []
    words = ("--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", tmp_path)
    copy = tmp_path / "source"
    shutil.copytree(ROOT / "autograder", copy / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-text"):
        shutil.copy(ROOT / name, copy)
    subprocess.run([sys.executable, "-m", "pip", "wheel", *words, copy], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        assert "autograder/judge/cell.py" in opened.namelist()
    assert leaks(Course(root), wheel) == []


def test_stored_outputs_name_no_place_of_a_machine(root):
    assert leaks(Course(root), Course(root).solved, (SECRET, PLACE)) == []


def test_a_release_that_a_gate_refuses_changes_nothing(root, released, tmp_path):
    broken = tmp_path / "course"
    shutil.copytree(root, broken)
    path = broken / "notebooks" / ASSIGNMENT / "06_data.ipynb"
    notebook = nbformat.read(path, as_version=4)
    next(c for c in notebook.cells if "NotImplementedError" in c.source).source = "answer = 1"
    nbformat.write(notebook, path)
    before = (broken / "grading" / "release" / f"{ASSIGNMENT}.zip").read_bytes()
    with pytest.raises(BuildError, match="does it show the answer"):
        hand_out(broken)
    path.unlink()
    with pytest.raises(BuildError, match="06_data.ipynb: is missing or left over; run: make build"):
        hand_out(broken)
    assert (broken / "grading" / "release" / f"{ASSIGNMENT}.zip").read_bytes() == before


def test_it_works_from_its_folder_alone(alone):
    code = (
        "import autograder; from autograder import check, hint, progress\n"
        f"exec({example_class.answer('7.1a')!r})\n"
        "report = check('7.1a', joint_shuffle); hint('7.1a'); progress()\n"
        "print(autograder.__file__, float(report))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=alone, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == [str(alone / "autograder" / "__init__.py"), "2.0"]


def test_its_commands_are_those_of_students(alone):
    tour = command(alone).stdout
    assert "submit" in tour and "doctor" in tour and "  grade" not in tour and "Instructors" not in tour
    doctor = command(alone, "doctor")
    assert doctor.returncode == 0 and "all is here" in doctor.stdout and "nbgrader" not in doctor.stdout


def test_readme_of_students_names_what_is_there(alone):
    text = (alone / "README.md").read_text(encoding="utf-8")
    assert "conda env create -f environment.yml" in text and "python -m autograder submit" in text
    assert len(text.splitlines()) <= 40


# --- handing in ---


def test_submit_says_what_is_missing_and_packs_the_rest(alone, tmp_path):
    folder = tmp_path / "work"
    shutil.copytree(alone, folder)
    (folder / "06_data.ipynb").unlink()
    path = folder / "07_failure_scenarios.ipynb"
    notebook = nbformat.read(path, as_version=4)
    cells = example_class.exercise_cells(notebook)
    cells["7.1a"].source = example_class.answer("7.1a")
    cells["7.2"].source = example_class.answer("7.2")
    next(c for c in notebook.cells if c.source.startswith('check("7.2"')).execution_count = 3
    nbformat.write(notebook, path)
    (folder / "08_tool_belt.ipynb").write_text("{broken")
    done = command(folder, "submit", "--name", "Zoë / Ünal")
    assert done.returncode == 0, done.stderr
    said = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert "not attempted: 7.1b, 7.3a, 7.3b; check not run: 7.1a" in said["07_failure_scenarios.ipynb"]
    assert "no exercise" in said["00_what_debugging_tests.ipynb"]
    assert "MISSING with exercises 6.1, 6.6" in said["06_data.ipynb"]
    assert "can't be read as a notebook" in done.stdout and "MISSING with exercise 8.9" in done.stdout
    archive = folder / f"{ASSIGNMENT}-Zoë-Ünal.zip"
    assert f"{archive.name}: 10 notebooks, 2 of {len(all_exercises())} exercises attempted" in done.stdout
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
        assert parse_utc(opened.read("timestamp.txt").decode().strip()).year >= 2025
        assert opened.read(path.name) == path.read_bytes()
    assert sorted(names) == sorted([*(p.name for p in folder.glob("*.ipynb")), "timestamp.txt"])


def test_submit_refuses_where_there_is_nothing(tmp_path):
    done = command(ROOT, "--course", str(tmp_path), "submit")
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    assert done.stderr == f"autograder: there is no notebook in {tmp_path}; go to the folder that holds yours\n"


@needs_bubblewrap
def test_submit_in_a_read_only_folder_says_so(alone):
    words = ["--dev", "/dev", "--", sys.executable, "-m", "autograder", "submit", "--name", "ada"]
    done = subprocess.run(["bwrap", "--ro-bind", "/", "/", "--chdir", alone, *words], capture_output=True, text=True)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "Read-only file system; make the place writable" in done.stderr


def test_a_clone_of_the_course_hands_in_its_notebooks(tmp_path):
    folder = tmp_path / "notebooks" / ASSIGNMENT
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "notebooks" / ASSIGNMENT / "05_histograms.ipynb", folder)
    (draft,) = drafts(tmp_path)
    assert draft.untouched == ["5.1", "5.6"] and not draft.attempted
    assert "05_histograms" not in absent([draft]) and absent([draft])["03_loss_will_not_move"] == ["3.2", "3.3"]


def test_a_notebook_too_large_to_be_graded_is_told(tmp_path):
    with open(tmp_path / "big.ipynb", "wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert "clear its outputs" in drafts(tmp_path)[0].trouble


@pytest.mark.parametrize("name", ["", "//", ".", "--"])
def test_a_name_that_names_no_file_is_refused(tmp_path, name):
    (tmp_path / "a.ipynb").write_text('{"cells": []}')
    with pytest.raises(NothingToHandIn, match="gives no name"):
        pack(drafts(tmp_path), name, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.ipynb"]


def test_names_of_the_hand_in_stay_in_the_folder(tmp_path):
    (tmp_path / "a.ipynb").write_text('{"cells": []}')
    assert pack(drafts(tmp_path), "../../etc/passwd", tmp_path).parent == tmp_path
