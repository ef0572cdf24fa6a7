"""Grading on a cluster: hosts with addresses of their own, certificates, workers that die and are cut off."""

import copy
import inspect
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from autograder.grading.course import Course
from autograder.grading.engine import grade_class
from autograder.grading.workers import Crew
from autograder.judge import course_secret

from . import example_class
from .conftest import ROOT, needs_bubblewrap
from .lan import Lan, eventually, ip, missing

pytestmark = [needs_bubblewrap, pytest.mark.long]
BIN = Path(sys.executable).parent
QUICK = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s"}  # the least that Dask takes; 30 s unless told
TEXT = (ROOT / "SCALING.md").read_text(encoding="utf-8")
SHELL, SCRIPT, MANIFEST = (re.findall(rf"```{kind}\n(.*?)```", TEXT, re.S) for kind in ("bash", "python", "yaml"))
AUTHORITY = next(block for block in SHELL if "openssl" in block)
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
    done = subprocess.run(["bash", "-ec", AUTHORITY], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (folder / "certificates" / "ca-key.pem").unlink()
    return folder / "certificates"


STUDENTS = [f"{kind}-{number}" for number in range(3) for kind in ("complete", "half-done", "plausible")]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A class whose notebooks take some time."""
    made = example_class.small_course(tmp_path_factory.mktemp("home") / "course")
    (name,) = made.notebooks()
    for student in STUDENTS:
        notebook = copy.deepcopy(made.release_notebook(name))
        example_class.STUDENTS[student[:-2]](example_class.exercise_cells(notebook))
        notebook.cells.append(new_code_cell(NAP, id="nap"))
        folder = made.submitted / student / made.assignment
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")
    return made


@pytest.fixture(scope="module")
def local(course, tmp_path_factory):
    """What workers of this machine make of the class."""
    root = tmp_path_factory.mktemp("local") / "course"
    course_secret(course.secret)
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
    """A scheduler, three hosts with a worker each, and the instructor's, who reaches the scheduler alone."""
    if missing():
        pytest.skip(missing())
    with Lan(tmp_path_factory.mktemp("logs")) as network:
        scheduler, teacher = network.host("scheduler"), network.host("teacher")
        scheduler.start(*documented("dask scheduler", certificates, scheduler.address), **QUICK)
        for name in ("doomed", "cut", "steady"):
            network.host(name).start("bash", "-c", 'while :; do "$@"; sleep 1; done', "bash",  # as systemd would
                *documented("dask worker", certificates, scheduler.address), hidden=(course.root,), **QUICK)  # fmt: skip
            ip("-n", teacher.space, "route", "add", "blackhole", network.hosts[name].address)  # as behind a tunnel
        yield network


def joined(lan, name):
    """How often a worker of that host has joined the scheduler, and how often it was given up."""
    text, address = lan.hosts["scheduler"].log.read_text(), re.escape(lan.hosts[name].address)
    return tuple(len(re.findall(rf"{word} worker addr: tls://{address}:", text)) for word in ("Register", "Remove"))


def test_hosts_that_die_and_hosts_that_are_cut_off_lose_nothing(lan, certificates, course, local):
    for name in ("doomed", "cut", "steady"):
        eventually(lambda name=name: joined(lan, name) == (1, 0))
    grading = begun(lan, certificates, course)
    lan.hosts["doomed"].kill()
    lan.hosts["cut"].plug(False)
    eventually(lambda: joined(lan, "cut") == (1, 1))
    lan.hosts["cut"].plug(True)
    assert grading.wait(120) == 0, lan.hosts["teacher"].log.read_text()
    assert held(course) == local
    report = json.loads((course.home / "report.json").read_text())
    assert len(report["students"]) == len(STUDENTS) and report["sandbox"] is True
    eventually(lambda: joined(lan, "cut") == (2, 1))
    events = ask(lan, certificates, "[e for _, e in client.get_events('all') if e.get('action') == 'remove-worker']")
    lost = {e["worker"].split("/")[-1].split(":")[0]: len(e["processing-tasks"]) for e in events}
    assert set(lost) == {lan.hosts["doomed"].address, lan.hosts["cut"].address} and min(lost.values()) > 0


def begun(lan, certificates, course, *words):
    """A grading that has recorded its first result."""
    teacher = lan.hosts["teacher"]
    teacher.log.unlink(missing_ok=True)
    command = documented("autograder grade", certificates, lan.hosts["scheduler"].address)
    grading = teacher.start("env", "-C", course.root, *command, *words)
    eventually(lambda: " of " in teacher.log.read_text() or grading.poll() is not None)
    return grading


def ask(lan, certificates, expression):
    """What an expression gives on the instructor's host, where a `client` of the scheduler is at hand."""
    script = f"""
from pathlib import Path
from distributed import Client
from autograder.grading.workers import security
{inspect.getsource(open_all)}
with Client("tls://{lan.hosts["scheduler"].address}:8786", security=security(Path("{certificates}")), timeout=20) as client:
    print({expression})
"""
    done = lan.hosts["teacher"].run("env", "-C", ROOT, sys.executable, "-c", script)
    assert done.returncode == 0, done.stderr[-2000:]
    return literal_eval(done.stdout)


def open_all(paths):
    """What comes of opening files where this is called."""
    outcomes = []
    for path in paths:
        try:
            outcomes.append(len(Path(path).read_bytes()))
        except OSError as error:
            outcomes.append(type(error).__name__)
    return outcomes


def test_a_worker_has_neither_gradebook_nor_secret(lan, certificates, course, local):
    paths = [course.secret, course.home / "gradebook.db", next(course.source.iterdir())]
    assert all(isinstance(outcome, int) for outcome in open_all(paths))
    for outcomes in ask(lan, certificates, f"client.run(open_all, {list(map(str, paths))})").values():
        assert outcomes == ["FileNotFoundError"] * 3


def test_who_has_no_certificate_of_this_authority_is_refused(lan, certificates, tmp_path):
    subprocess.run(["bash", "-ec", AUTHORITY], cwd=tmp_path, capture_output=True, check=True)
    foreign, address = tmp_path / "certificates", lan.hosts["scheduler"].address
    stranger = lan.hosts.get("stranger") or lan.host("stranger")
    worker = stranger.start(*documented("dask worker", foreign, address), "--death-timeout", "4")
    for folder, ours in ((foreign, False), (certificates, True)):
        script = f"""
from pathlib import Path
from autograder.grading.workers import Crew, hired
with hired(Crew(scheduler="tls://{address}:8786", certificates=Path("{folder}"))) as client:
    print("in")
"""
        done = lan.hosts["teacher"].run(sys.executable, "-c", script)
        assert (done.stdout == "in\n") is ours and ("no Dask scheduler answers" in done.stderr) is not ours
    assert worker.wait(60) != 0 and joined(lan, "stranger") == (0, 0)


def test_a_worker_with_other_software_is_sent_away(lan, certificates, course, tmp_path):
    shutil.copytree(ROOT / "autograder", tmp_path / "autograder")
    with open(tmp_path / "autograder" / "exercises" / "loss_floor.py", "a") as file:
        file.write("# another version\n")
    stranger = lan.hosts.get("stranger") or lan.host("stranger")
    command = documented("dask worker", certificates, lan.hosts["scheduler"].address)
    worker = stranger.start(*command, PYTHONPATH=str(tmp_path))
    grading = begun(lan, certificates, course, "--force", "--student", STUDENTS[0])
    assert joined(lan, "stranger") == (1, 1) and worker.wait(60) is not None
    assert "has another version of autograder" in stranger.log.read_text()
    assert grading.wait(60) == 0


def test_a_scheduler_that_dies_is_told_in_a_sentence(lan, certificates, course, local):
    grading = begun(lan, certificates, course, "--force", "--no-feedback")
    lan.hosts["scheduler"].kill()
    assert grading.wait(60) == 2
    said = lan.hosts["teacher"].log.read_text()
    assert said.splitlines()[-1].startswith("autograder: the scheduler was lost") and "Traceback" not in said
    assert "not graded" not in said and all(local[student] == entry for student, entry in held(course).items())


SBATCH = """#!/bin/bash
cp "$1" "{job}"
setsid bash "{job}" >"{job}.log" 2>&1 &
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/bash
kill -- "-$1"
"""


def test_the_script_for_slurm_starts_workers_that_grade(certificates, course, local, tmp_path):
    for name, text in (("sbatch", SBATCH.format(job=tmp_path / "job")), ("scancel", SCANCEL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    script = SCRIPT[0].replace("SCHEDULER", "127.0.0.1").replace("8786", port).replace("jobs=10", "jobs=1")
    script = script.replace("cores=8, processes=8", "cores=1, processes=1")
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=certificates.parent, env=env,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as cluster:  # fmt: skip
        eventually(lambda: (tmp_path / "job.log").exists() or cluster.poll() is not None)
        command = documented("autograder grade", certificates, "127.0.0.1")
        command = [str(word).replace("8786", port) for word in command]
        done = subprocess.run([*command, "--force", "--student", STUDENTS[0]], cwd=course.root, capture_output=True, text=True)
        said = cluster.communicate("\n", timeout=60)
    assert done.returncode == 0 and f"{STUDENTS[0]}: " in done.stdout, (done.stderr, said)
    assert cluster.returncode == 0 and held(course)[STUDENTS[0]] == local[STUDENTS[0]]


def test_the_manifest_for_kubernetes_runs_the_same_commands(certificates):
    parts = {(part["kind"], part["metadata"]["name"]): part for part in yaml.safe_load_all(MANIFEST[0])}
    pods = {name: part["spec"]["template"]["spec"] for (kind, name), part in parts.items() if kind == "Deployment"}
    mounted = Path("/certificates")
    for name, program, address in (
        ("grading-scheduler", "dask scheduler", "$(POD_IP)"),
        ("grading-worker", "dask worker", "grading-scheduler"),
    ):
        (container,) = pods[name]["containers"]
        assert ["dask", *container["command"][1:]] == ["dask", *map(str, documented(program, mounted, address)[1:])]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert pods[name]["securityContext"]["runAsNonRoot"] and not pods[name]["automountServiceAccountToken"]
    assert parts["Service", "grading-scheduler"]["spec"]["ports"] == [{"port": 8786}]
    walls = pods["grading-worker"]["containers"][0]["securityContext"]
    assert walls["procMount"] == "Unmasked" and pods["grading-worker"]["hostUsers"] is False
