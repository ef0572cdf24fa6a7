"""The house: nothing astray, one version of everything, rooms that depend only on those below them."""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from autograder.build import ASSIGNMENT, Course
from autograder.build.text import check_id, read_text
from autograder.exercises import all_exercises
from autograder.verify.sources import equivalents, kept_answers

from .courses import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXERCISES = all_exercises()


def _tracked():
    """Files that git knows or would add."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [Path(line) for line in done.stdout.splitlines() if (ROOT / line).exists()]


def test_folders_of_notebooks_hold_notebooks_alone():
    for folder in ("solutions", "notebooks"):
        strangers = [path for path in _tracked() if path.parts[:2] == (folder, ASSIGNMENT) and path.suffix != ".ipynb"]
        assert strangers == []


def test_notebooks_lie_nowhere_else():
    places = {path.parts[0] for path in _tracked() if path.suffix == ".ipynb"}
    assert places <= {"solutions", "notebooks", "tests"}


def test_solved_and_released_notebooks_go_with_their_texts():
    course = Course(ROOT)
    names = [path.stem for path in course.texts()]
    assert sorted(path.stem for path in course.solved.glob("*.ipynb")) == names
    assert sorted(path.stem for path in course.released.glob("*.ipynb")) == names


def test_nothing_of_grading_is_committed():
    kinds = {".db", ".pkl", ".pt", ".pyc", ".log"}
    assert not [path for path in _tracked() if path.parts[0] == "grading" or path.suffix in kinds]


def test_files_are_small_enough_for_binder_and_git():
    assert not [path for path in _tracked() if (ROOT / path).stat().st_size > 3_000_000]


def test_binder_has_the_same_environment():
    assert (ROOT / "binder/environment.yml").read_bytes() == (ROOT / "environment.yml").read_bytes()
    for name in ("postBuild", "start"):
        path = ROOT / "binder" / name
        assert path.stat().st_mode & 0o111 and path.read_bytes().startswith(b"#!/bin/bash\n")
        assert subprocess.run(["bash", "-n", path]).returncode == 0
    assert "--no-deps" in (ROOT / "binder/postBuild").read_text()


def plan(folder):
    """What repo2docker would build of a folder."""
    words = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", folder]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout + done.stderr


def test_binder_builds_by_our_files(tmp_path):
    ours = plan(ROOT)
    python = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"][0].split("=")[1]
    assert f"environment.py-{python}-linux-64.lock" in unescape_names(ours), "it starts from the Python that we name"
    assert '--file "binder/environment.yml"' in ours and "cuda" not in ours.lower()
    assert "RUN ./binder/postBuild" in ours and 'R2D_ENTRYPOINT="${REPO_DIR}/binder/start"' in ours
    shutil.copy(ROOT / "environment.yml", tmp_path)
    control = plan(tmp_path)
    assert '--file "environment.yml"' in control and "RUN ./binder/postBuild" not in control


def unescape_names(text):
    return re.sub("-(2d|2e|2f|2D|2E|2F)", lambda found: bytes.fromhex(found[1]).decode(), text)


def test_post_build_installs_the_package_in_a_fresh_environment(tmp_path):
    """As on Binder: the environment has what the package needs, and the package itself comes from postBuild."""
    source, fresh = tmp_path / "source", tmp_path / "fresh"
    for name in ("autograder", "binder"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-text"):
        shutil.copy(ROOT / name, source)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", fresh], check=True)
    (packages,) = fresh.glob("lib/python*/site-packages")
    (packages / "needed.pth").write_text(sysconfig.get_paths()["purelib"])
    tell = [fresh / "bin" / "python", "-P", "-c", "import autograder; print(autograder.__file__, autograder.check)"]
    assert "No module named 'autograder'" in subprocess.run(tell, capture_output=True, text=True, cwd=tmp_path).stderr
    environment = {**os.environ, "PATH": f"{fresh / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["binder/postBuild"], cwd=source, env=environment, check=True, capture_output=True)
    told = subprocess.run(tell, capture_output=True, text=True, cwd=tmp_path, check=True).stdout
    assert told.startswith(str(packages / "autograder"))


def test_binder_starts_lab_on_the_first_notebook(tmp_path):
    stand_in = tmp_path / "jupyter-notebook"
    stand_in.write_text('#!/bin/bash\necho "$@"\n')
    stand_in.chmod(0o755)
    done = subprocess.run(
        [ROOT / "binder/start", stand_in, "--port=8888"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    first = sorted((ROOT / "notebooks" / ASSIGNMENT).glob("*.ipynb"))[0].name
    assert done.stdout.split() == [
        "--port=8888", f"--ServerApp.default_url=/lab/tree/notebooks/{ASSIGNMENT}/{first}"
    ]  # fmt: skip


def _needs():
    """Every requirement of pyproject.toml."""
    extras = PROJECT["optional-dependencies"].values()
    return [Requirement(line) for line in [*PROJECT["dependencies"], *(r for extra in extras for r in extra)]]


def _lock():
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line.partition("#")[0].strip().lower() for line in lines]
    return dict(pin.split("==") for pin in pins if pin)


@pytest.mark.parametrize("need", _needs(), ids=lambda need: need.name)
def test_requirements_are_bounded_and_the_lock_meets_them(need):
    assert {spec.operator for spec in need.specifier} == {">=", "<"}
    assert need.specifier.contains(_lock()[need.name.lower()])


def test_lock_is_exact_and_of_no_one_machine():
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()[1:]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+(  # .+)?", line) for line in lines)


def test_conda_environment_has_what_a_student_needs():
    table = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    bounds = dict(line.split(" ")[:2] for line in table["dependencies"] if " " in line)
    names = {"torch": "pytorch-cpu", "matplotlib": "matplotlib-base"}
    for line in PROJECT["dependencies"]:
        need = Requirement(line)
        theirs = Requirement("x" + bounds[names.get(need.name, need.name)]).specifier
        assert theirs == need.specifier, need.name
    assert PROJECT["requires-python"] == ">=" + bounds["python"].removeprefix("=")


def test_version_has_one_place():
    import autograder

    assert version("autograder") == autograder.__version__


MAKE = ("lab", "test", "grade", "build", "verify", "adversarial", "bench")


def test_make_alone_prints_a_short_tour():
    done = subprocess.run(["make", "-s"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) <= 10
    assert all(f"make {name}" in done.stdout for name in MAKE)


@pytest.mark.parametrize("name", MAKE)
def test_each_make_target_sets_up_what_it_needs(name, tmp_path):
    done = subprocess.run(
        ["make", "-n", name, f"VENV={tmp_path}/venv", f"BUILT={tmp_path}/built"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"-m venv {tmp_path}/venv" in done.stdout and "requirements.lock" in done.stdout


def test_ci_calls_make_test():
    path = ROOT / ".ci/run"
    assert path.stat().st_mode & 0o111
    assert path.read_text().splitlines()[-1] == "make test"


def test_readme_fits_a_screen_and_names_everyone():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 50
    for word in ("## Student", "## Instructor", "## Contributor", "make lab", "make test", "make grade", "WSL"):
        assert word in text


def test_licenses():
    assert "BSD 3-Clause" in (ROOT / "LICENSE").read_text()
    assert "CC-BY-4.0" in (ROOT / "LICENSE-text").read_text()


def test_style():
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "."], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_every_exercise_is_in_one_notebook():
    nbs = [read_text(path) for path in Course(ROOT).texts()]
    checked = [check_id(cell) for nb in nbs for cell in nb.cells if check_id(cell) is not None]
    assert sorted(checked) == sorted(EXERCISES)


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_keeps_right_and_wrong_answers(name):
    folder = ROOT / "tests" / "answers" / name
    kept = kept_answers(folder)
    assert sum(one.right for one in kept) >= 4 and sum(not one.right for one in kept) >= 8
    assert all(ast.get_docstring(ast.parse(one.code)) for one in kept)
    known = {one.name for one in kept} | {"equivalent.txt"}
    assert {path.name for path in folder.iterdir() if path.is_file()} == known
    equivalents(folder)


def test_no_answers_without_exercise():
    assert {path.name for path in (ROOT / "tests" / "answers").iterdir() if path.is_dir()} <= set(EXERCISES)


# Each room of the package, and the rooms that it must not know. `text`, `wire`, `live` and `result` lie below all.
ABOVE = ("cli", "commands", "grading", "build", "verify", "nbgrader_plugin")
FORBIDDEN = {
    "runs": (*ABOVE, "judge", "sandbox", "kernel", "item", "render", "lesson", "exercises"),
    "exercises": (*ABOVE, "judge", "sandbox", "kernel", "item", "render", "lesson"),
    "kernel": (*ABOVE, "judge", "sandbox"),
    "lesson": (*ABOVE, "judge", "sandbox", "kernel", "item"),
    "sandbox": (*ABOVE, "judge", "exercises", "runs", "item", "render", "lesson"),
    "judge": ABOVE,
    "build": ("cli", "commands", "grading", "verify", "nbgrader_plugin", "judge", "sandbox"),
    "grading": ("cli", "commands", "verify"),
    "wire": (*ABOVE, "judge", "sandbox", "kernel", "item", "render", "lesson", "exercises", "runs"),
    "result": (*ABOVE, "judge", "sandbox", "kernel", "item", "render", "lesson", "exercises", "runs"),
    "text": (*ABOVE, "judge", "sandbox", "kernel", "item", "render", "lesson", "exercises", "runs"),
}


@pytest.mark.parametrize("room", FORBIDDEN)
def test_rooms_depend_only_on_those_below(room):
    known = {name for path in _modules(room) for name in _imported(path)}
    assert known.isdisjoint(FORBIDDEN[room])


def _modules(room):
    package = ROOT / "autograder"
    found = [*package.glob(f"{room}.py"), *(package / room).rglob("*.py")]
    assert found, f"there is no room {room}"
    return found


def _imported(path):
    """Rooms that a module imports, absolutely or relatively, at its top or inside a function."""
    depth = len(path.relative_to(ROOT / "autograder").parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (name.split(".")[1] for name in names if name.startswith("autograder."))
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")
            if not node.level and module[0] == "autograder":
                yield from module[1:2] or (alias.name for alias in node.names)
            elif node.level == depth:
                yield from module[:1] if module[0] else (alias.name for alias in node.names)
