"""Every command: the tour, help with an example, and for what is missing one sentence with the way out."""

import os
import shutil
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from autograder import cli, doctor
from autograder.commands import TOUR, installed
from autograder.grading import ready

from .conftest import ROOT, needs_bubblewrap

COMMANDS = installed()


def run(folder, *words, **environment):
    """The command in a folder."""
    return subprocess.run(
        ["autograder", *words], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True
    )


def refused(done):
    """The one sentence with which a command was refused."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stderr.startswith("autograder: ") and len(done.stderr.splitlines()) == 1
    return done.stderr.strip()


def test_the_tour_names_every_command_once_for_each_of_its_people():
    done = run(ROOT)
    assert done.returncode == 0 and done.stdout == run(ROOT, "--help").stdout
    for people, names in TOUR:
        part = done.stdout.partition(people)[2].partition("\n\n")[0]
        assert [line.split()[0] for line in part.strip().splitlines()] == list(names)
    assert len(done.stdout.splitlines()) <= 30 and max(map(len, done.stdout.splitlines())) <= 90


def test_every_module_of_the_room_is_a_command():
    modules = {path.stem for path in (ROOT / "autograder" / "commands").glob("*.py")} - {"__init__"}
    assert modules == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself_with_an_example(name, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0 and said.startswith(f"usage: autograder {name}")
    assert said.partition("example:\n")[2].strip().startswith(f"autograder {name}")


def test_the_tour_loads_nothing_but_the_standard_library():
    code = "import sys; from autograder import cli; cli.main([]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert not loaded & {"torch", "numpy", "nbgrader", "nbformat", "rich", "matplotlib", "jinja2", "IPython"}


@pytest.mark.parametrize("name", [name for name, module in COMMANDS.items() if module.IN_COURSE])
def test_a_folder_that_is_no_course(name, tmp_path, capsys):
    assert cli.main(["--course", str(tmp_path), name]) == 2
    said = capsys.readouterr().err
    assert f"{tmp_path} is not a course folder" in said and "go to the folder that has one" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [name for name, module in COMMANDS.items() if module.NEEDS])
def test_a_missing_package(name, tmp_path, capsys, monkeypatch):
    missing = COMMANDS[name].NEEDS[0]
    monkeypatch.setattr(cli, "_is_here", lambda package: package != missing)
    assert cli.main(["--course", str(tmp_path), name]) == 2
    said = capsys.readouterr().err
    assert f"{name} needs {missing}, which this Python ({sys.executable}) does not have" in said
    assert "conda activate" in said and len(said.splitlines()) == 1


def test_a_folder_of_a_package_s_name_is_not_the_package(tmp_path, monkeypatch):
    (tmp_path / "not_installed_at_all").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert not cli._is_here("not_installed_at_all") and cli._is_here("json")


def python(code):
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)


def test_a_notebook_without_torch_gets_a_sentence():
    done = python("import sys; sys.modules['torch'] = None\nfrom autograder import check")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: this course needs torch") and "make lab" in last and "conda activate" in last


def test_an_older_python_gets_a_sentence_as_a_command_and_in_a_kernel():
    older = "import sys; sys.version_info = (3, 9, 1)\n"
    done = python(older + "import autograder.cli")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "needs Python 3.11 or later, and this is 3.9" in done.stderr and "README.md" in done.stderr
    kernel = python(older + "sys.modules['ipykernel'] = sys\nimport autograder")
    assert kernel.stderr.strip().splitlines()[-1].startswith("ImportError: this course needs Python 3.11")


@pytest.mark.parametrize("words", [["report"], ["export"], ["feedback"], ["feedback", "--student", "ada"]])
def test_before_anything_is_graded(words, course_root, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(course_root, root)
    assert "nothing has been graded yet; run: autograder grade" in refused(run(root, *words))
    (root / "grading" / "report.json").write_text('{"students": [{"student": "ada"}]}')
    assert "is not a report of this version; run: autograder grade --force" in refused(run(root, *words))


def test_a_gradebook_that_is_not_there(course_root, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(course_root, root)
    (root / "grading" / "report.json").write_text('{"students": []}')
    (root / "grading" / "gradebook.db").unlink()
    assert "has no assignment 's19-debugging'; run: make build" in refused(run(root, "report"))


@needs_bubblewrap
def test_a_course_that_cannot_be_written(course_root, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(course_root, root)
    for name in ("LICENSE", "LICENSE-text", "environment.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    walls = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--chdir", str(root), "--"]
    done = subprocess.run([*walls, shutil.which("autograder"), "release"], capture_output=True, text=True)
    assert "Read-only file system; make the place writable" in refused(done)


# --- doctor ---


@needs_bubblewrap
def test_doctor_finds_all_here_in_a_built_course(course_root):
    done = run(course_root, "doctor")
    assert done.returncode == 0, done.stdout
    for word in ("torch: 2.", "CPU build", "alembic: /", "bubblewrap: builds its walls", "11 notebooks", "of this course"):
        assert word in done.stdout
    assert done.stdout.strip().endswith("all is here")


def test_doctor_says_how_to_get_what_is_missing(course_root, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(course_root, root)
    (root / "grading" / "gradebook.db").unlink()
    (root / "grading" / "secret").write_text("00" * 32)
    (root / "grading" / "secret").chmod(0o644)
    empty = tmp_path / "bin"
    empty.mkdir()
    command = [shutil.which("autograder"), "doctor"]
    done = subprocess.run(command, cwd=root, env={**os.environ, "PATH": str(empty)}, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.strip().splitlines()[-1] == "missing: alembic, bubblewrap, gradebook, secret"
    for word in ("apt-get install bubblewrap", "export PATH=", "none yet", "run: make build", "chmod 600"):
        assert word in done.stdout
    assert not (root / "grading" / "gradebook.db").exists()  # looking makes nothing


def test_doctor_survives_an_environment_without_anything(monkeypatch, tmp_path):
    def gone(name):
        raise doctor.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.importlib.metadata, "version", gone)
    found = [*doctor.for_work(tmp_path), *ready.for_grading(tmp_path)]
    missing = {finding.what for finding in found if finding.stops}
    assert {"torch", *doctor.PACKAGES, *ready.PACKAGES} <= missing
    assert all("pip install" in finding.way_out for finding in found if finding.what in ready.PACKAGES)


@needs_bubblewrap
def test_walls_that_cannot_be_built_are_told(monkeypatch):
    monkeypatch.setattr(ready.bubblewrap, "command", lambda words: ["bwrap", "--ro-bind", "/nowhere", "/", "true"])
    found = ready.walls()
    assert found.stops and "can't build walls: bwrap:" in found.found and "user namespaces" in found.way_out


def test_a_taken_port_and_a_full_disk_are_told(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(10**9, 10**9, 10**7))
    assert doctor.disk(tmp_path, 0.5).stops
    with doctor.socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(doctor, "LAB_PORT", server.getsockname()[1])
        assert "next free one" in doctor.port().way_out and not doctor.port().stops
    assert not doctor.port().way_out


def test_doctor_wants_what_the_project_wants():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    instructor = {n.name: n for n in map(Requirement, project["optional-dependencies"]["instructor"])}
    student = {n.name: n for n in map(Requirement, project["dependencies"])}
    assert {"torch": doctor.TORCH, **doctor.PACKAGES}.keys() == student.keys()
    for name, oldest in {"torch": doctor.TORCH, **doctor.PACKAGES, **ready.PACKAGES}.items():
        need = {**student, **instructor}[name]
        assert Version(oldest) == min(Version(s.version) for s in need.specifier if s.operator == ">=")
