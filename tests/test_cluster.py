"""Grading on a cluster: hosts with addresses of their own, certificates, workers that die and are cut off."""

import copy
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from autograder.grading.course import Course
from autograder.grading.engine import grade_class
from autograder.grading.workers import Crew

from . import example_class
from .conftest import ROOT, needs_bubblewrap
from .lan import Lan, eventually, missing

pytestmark = [needs_bubblewrap, pytest.mark.long, pytest.mark.skipif(bool(missing()), reason=missing() or "hosts can be made")]
BIN = Path(sys.executable).parent
QUICK = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s"}  # the least that Dask takes; 30 s unless told
SHELL = re.findall(r"```bash\n(.*?)```", (ROOT / "SCALING.md").read_text(encoding="utf-8"), re.S)
NAP = "import time\ntime.sleep(1.5)"


def documented(begins, certificates, scheduler=""):
    """A command of SCALING.md, for these certificates and this scheduler."""
    text = next(block for block in SHELL if block.startswith(begins)).replace("\\\n", " ")
    text = re.sub(r"(?<!-)\bcertificates\b", str(certificates), text)
    program, *words = text.replace("SCHEDULER", scheduler).replace("CORES", "1").split()
    return [BIN / program, *words]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """The folder that SCALING.md's own commands make."""
    folder = tmp_path_factory.mktemp("authority")
    done = subprocess.run(["bash", "-ec", next(b for b in SHELL if "openssl" in b)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (folder / "certificates" / "ca-key.pem").unlink()
    return folder / "certificates"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A class of twelve, whose notebooks take some time."""
    made = example_class.small_course(tmp_path_factory.mktemp("home") / "course")
    students = {f"{fill.__name__}-{n}": fill for n in range(4) for fill in (example_class.complete, example_class.half_done, example_class.plausible)}
    (name,) = made.notebooks()
    for student, fill in students.items():
        notebook = copy.deepcopy(made.release_notebook(name))
        fill(example_class.exercise_cells(notebook))
        notebook.cells.append(new_code_cell(NAP, id="nap"))
        folder = made.submitted / student / made.assignment
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")
    return made


@pytest.fixture(scope="module")
def local(course, tmp_path_factory):
    """What workers of this machine make of the class."""
    root = tmp_path_factory.mktemp("local") / "course"
    (course.home / "secret").write_text("5a" * 32 + "\n")
    (course.home / "secret").chmod(0o600)
    shutil.copytree(course.root, root)
    made = Course.at(root)
    assert not any(result.failed for result in grade_class(made, crew=Crew(count=2)))
    return held(made)


def held(course):
    """What the gradebook holds: scores and comments by student and cell."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        return {
            s.student.id: (
                {g.name: g.auto_score for n in s.notebooks for g in n.grades},
                {c.name: c.auto_comment for n in s.notebooks for c in n.comments},
            )
            for s in gradebook.assignment_submissions(course.assignment)
        }


@pytest.fixture(scope="module")
def lan(certificates, course, tmp_path_factory):
    """A scheduler, three hosts with a worker each, and the instructor's."""
    with Lan(tmp_path_factory.mktemp("logs")) as network:
        scheduler, teacher = network.host("scheduler"), network.host("teacher")
        scheduler.start(*documented("dask scheduler", certificates, scheduler.address), **QUICK)
        for name in ("doomed", "cut", "steady"):
            network.host(name).start("bash", "-c", 'while :; do "$@"; sleep 1; done', "bash",  # as systemd would
                *documented("dask worker", certificates, scheduler.address), hidden=(course.root,), **QUICK)  # fmt: skip
        assert teacher.address
        yield network


def joined(lan, name):
    """How often a worker of that host has joined the scheduler, and how often it was given up."""
    text, address = lan.hosts["scheduler"].log.read_text(), re.escape(lan.hosts[name].address)
    return tuple(len(re.findall(rf"{word} worker addr: tls://{address}:", text)) for word in ("Register", "Remove"))


def test_hosts_that_die_and_hosts_that_are_cut_off_lose_nothing(lan, certificates, course, local):
    for name in ("doomed", "cut", "steady"):
        eventually(lambda name=name: joined(lan, name) == (1, 0))
    teacher, scheduler = lan.hosts["teacher"], lan.hosts["scheduler"]
    command = documented("autograder grade", certificates, scheduler.address)
    grading = teacher.start("env", "-C", course.root, *command)
    eventually(lambda: " of " in teacher.log.read_text() or grading.poll() is not None)
    lan.hosts["doomed"].kill()
    lan.hosts["cut"].plug(False)
    eventually(lambda: joined(lan, "cut") == (1, 1))
    lan.hosts["cut"].plug(True)
    assert grading.wait(120) == 0, teacher.log.read_text()
    assert held(course) == local
    report = json.loads((course.home / "report.json").read_text())
    assert len(report["students"]) == 12 and report["sandbox"] is True
    assert busy_when_lost(lan, certificates) == {lan.hosts["doomed"].address, lan.hosts["cut"].address}
    eventually(lambda: joined(lan, "cut") == (2, 1))


ASK = """
from distributed import Client
from autograder.grading.workers import security
from pathlib import Path
with Client("tls://{scheduler}:8786", security=security(Path("{certificates}")), timeout=20) as client:
    print({expression})
"""


def ask(lan, certificates, expression):
    script = ASK.format(scheduler=lan.hosts["scheduler"].address, certificates=certificates, expression=expression)
    return lan.hosts["teacher"].ask(script)


def busy_when_lost(lan, certificates):
    """Addresses of the workers that had work when they were lost."""
    events = ask(lan, certificates, "[e for _, e in client.get_events('all') if e.get('action') == 'remove-worker']")
    return {e["worker"].split("/")[-1].split(":")[0] for e in eval(events) if e["processing-tasks"]}
