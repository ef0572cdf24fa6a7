"""Faults: whatever is killed, full, locked, lost or interrupted, the same command finishes with the same result."""

import contextlib
import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter

import dask
import pytest
from distributed import LocalCluster

from autograder.cli import main
from autograder.grading import engine
from autograder.grading.record import Recorder
from autograder.judge import course_secret
from autograder.sandbox import ProcessLost

from . import faults
from .conftest import needs_bubblewrap
from .example_class import answer

pytestmark = [needs_bubblewrap, pytest.mark.long]
SEED, HITS = 4, 30
MOMENTS = {"cluster": 40, "local": 10}  # on a cluster that outlives gradings, and with workers of its own
WORKERS = 3
PATIENCE = 300  # seconds for what takes a few on a machine with nothing else to do
RARE = ("submission", "watcher", "fork")  # live for a fraction of a second
CLUSTER = ("main", "worker", "wall", "inner wall", "template", *RARE, *RARE)
LOCAL = ("main", "forkserver", "tracker", "worker", "inner wall", "template", "submission")


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """The course with its class, nothing graded yet, and with a secret."""
    course = faults.make(tmp_path_factory.mktemp("handed in") / "course")
    course_secret(course.secret)
    return course


@pytest.fixture
def course(handed_in, tmp_path):
    return faults.copy(handed_in, tmp_path / "course")


@pytest.fixture(scope="module")
def want(handed_in, tmp_path_factory):
    """What an undisturbed grading leaves."""
    course = faults.copy(handed_in, tmp_path_factory.mktemp("want") / "course")
    assert faults.grade(course, "--workers", "2").wait(PATIENCE) == 0, faults.printed(course)
    return faults.state(course)


@pytest.fixture(scope="module")
def cluster():
    """Workers that outlive a grading, so that the next one need not wait for new ones."""
    settings = {"distributed.worker.multiprocessing-method": "forkserver", "distributed.scheduler.worker-ttl": None}
    with dask.config.set(settings), LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0, silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture
def graded(cluster, capfd):
    """Grades a course in this process, on the cluster: (exit code, all that was printed)."""

    def grade(course, *words):
        capfd.readouterr()
        code = main(["--course", str(course.root), "grade", "--scheduler", supply(cluster), *words])
        return code, "".join(capfd.readouterr())

    return grade


def supply(cluster):
    """Start workers anew where all nannies gave up on theirs, as SLURM and Kubernetes do."""
    if len(cluster.workers) < WORKERS:
        cluster.scale(0)
        cluster.scale(WORKERS)
    return cluster.scheduler_address


def workers(cluster):
    return [(nanny.process.pid, "worker") for nanny in cluster.workers.values() if nanny.process and nanny.process.pid]


def finish(course, start):
    """Run the same command until it has finished, three times at most."""
    said = []
    for _ in range(3):
        if start(course).wait(PATIENCE) == 0:
            return
        said.append(faults.printed(course))
    pytest.fail("\n".join(said))


def disturb(course, start, others, kinds, rng, moments):
    """Grade a course, and kill a process of a random kind after a random delay, several times.

    others: gives the roots of processes beside the main one.
    Returns: kinds that were hit, moments used, and every process that was seen.
    """
    grading, hit, seen, rare = start(course), [], set(), 0

    def living():
        found = faults.processes((grading.pid, "main"), *others())
        seen.update(found)
        return found

    for used in range(1, moments + 1):  # noqa: B007
        kind = rng.choice([k for k in kinds if rare < 2 or k not in RARE])  # killed thrice, a notebook is to blame
        delay = rng.uniform(0, {"main": 5.0, "fork": 0.1, "watcher": 0.3, "submission": 0.3}.get(kind, 1.5))
        while grading.poll() is None and kind not in {one.kind for one in living()}:
            time.sleep(0.005)
        time.sleep(delay)
        met = [one for one in living() if one.kind == kind]
        if met and rng.choice(met).kill():
            hit.append(kind)
            rare += kind in RARE
        if grading.poll() is not None:
            break
    grading.wait(PATIENCE)
    return hit, used, seen


def assert_gone(seen):
    """None of these processes is left, at last."""
    deadline = time.monotonic() + 60
    while left := [one for one in seen if one.alive()]:
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


def test_kill_9_at_random_moments(handed_in, want, cluster, tmp_path):
    """Gradings of a course are disturbed ten times, the next one is not, and nobody can tell."""
    places = {
        "cluster": (lambda c: faults.grade(c, "--scheduler", supply(cluster)), lambda: workers(cluster), CLUSTER),
        "local": (lambda c: faults.grade(c, "--workers", "1"), lambda: [], LOCAL),
    }
    rng, left, hits = random.Random(SEED), dict(MOMENTS), Counter()
    while any(left.values()):
        place = max(left, key=left.get)
        start, others, kinds = places[place]
        course = faults.copy(handed_in, tmp_path / f"{place}{left[place]}")
        rest = max(0, left[place] - 10)
        while left[place] > rest:
            hit, used, seen = disturb(course, start, others, kinds, rng, left[place] - rest)
            hits.update(hit)
            left[place] -= used
            if place == "local":
                assert_gone(seen)
        finish(course, start)
        assert faults.state(course) == want, hit
    print(f"{sum(MOMENTS.values())} moments, {hits.total()} met a process: {dict(hits)}")
    assert hits.total() >= HITS and hits["main"] and set(RARE) <= set(hits)


def test_who_writes_pages_ends_with_a_command_that_is_killed():
    script = "import time; from autograder.grading.feedback import _side_by_side; _side_by_side(time.sleep, [600, 600], 2)"
    with subprocess.Popen([sys.executable, "-c", script]) as command:
        deadline, seen = time.monotonic() + PATIENCE, []
        while sum(one.kind == "worker" for one in seen) < 2 and time.monotonic() < deadline:
            seen = faults.processes((command.pid, "main"))
        time.sleep(1)  # until both wait for work
        command.kill()
    assert len(seen) >= 4
    assert_gone(seen)


def test_every_worker_lost_at_once(course, want, cluster, graded):
    """Those who come back go on where the others were."""

    def kill_them():
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            seen = faults.processes(*workers(cluster))
            if any(one.kind == "submission" for one in seen):
                return [one.kill() for one in seen if one.kind == "worker"]

    killer = threading.Thread(target=kill_them)
    killer.start()
    code, said = graded(course)
    killer.join()
    if code:
        code, said = graded(course)
    assert code == 0, said
    assert faults.state(course) == want


@pytest.mark.parametrize("moment", ["while workers start", "while student code runs"])
def test_ctrl_c(course, want, moment):
    kind = {"while workers start": "worker", "while student code runs": "submission"}[moment]
    grading, seen = faults.grade(course, "--workers", "1"), set()
    while kind not in {one.kind for one in seen}:
        assert grading.poll() is None, faults.printed(course)
        seen.update(faults.processes((grading.pid, "main")))
        time.sleep(0.01)
    os.killpg(grading.pid, signal.SIGINT)  # as a terminal does
    assert grading.wait(PATIENCE) == 130
    said = faults.printed(course)
    assert "stopped; what was recorded stays, the same command goes on" in said and "Traceback" not in said
    assert_gone(seen)
    finish(course, lambda c: faults.grade(c, "--workers", "1"))
    assert faults.state(course) == want


def test_a_gradebook_that_is_locked(course, want, graded):
    path = course.db_url.removeprefix("sqlite:///")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        code, said = graded(course)
    assert code == 2 and said.count("\n") == 1
    assert "grading/gradebook.db is locked by another program; close it and run the same command again" in said
    assert graded(course)[0] == 0
    assert faults.state(course) == want


def test_a_gradebook_that_is_locked_while_it_is_written(course, want, graded, monkeypatch):
    path = course.db_url.removeprefix("sqlite:///")
    begin = Recorder.submission
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:

        def late(recorder, student, folder):
            if student == "carl":
                other.execute("BEGIN IMMEDIATE")  # as formgrader does when a grade is saved
            return begin(recorder, student, folder)

        monkeypatch.setattr(Recorder, "submission", late)
        code, said = graded(course)
        monkeypatch.undo()
    assert code == 2 and "is locked by another program; close it and run the same command again" in said
    assert "Traceback" not in said
    assert graded(course)[0] == 0
    assert faults.state(course) == want


@pytest.fixture
def small_disk(course):
    """The course's grading folder on a file system of its own: a function that says how many bytes it has."""
    content = course.home.with_name("content")
    course.home.rename(content)
    course.home.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", course.home], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs root, and a place where root may mount: a small file system is mounted")
    subprocess.run(["cp", "-a", f"{content}/.", course.home], check=True)
    try:
        yield lambda size: subprocess.run(["mount", "-o", f"remount,size={size}", course.home], check=True)
    finally:
        subprocess.run(["umount", "--lazy", course.home], check=True)


def test_a_disk_that_is_full(course, want, graded, small_disk):
    """A few blocks, then more and more, until it is enough; each time the same command goes on."""
    du = subprocess.run(["du", "-s", "-B1", course.home], capture_output=True, text=True, check=True)
    codes = []
    for blocks in (1, 10, 40, 80, 160, 320, 16_000):
        small_disk(int(du.stdout.split()[0]) + blocks * 4096)
        code, said = graded(course)
        codes.append(code)
        if code:
            assert code == 2 and "Traceback" not in said, said
            assert "space" in said.splitlines()[-1] and "run" in said.splitlines()[-1]
            assert not list(course.home.rglob("*partial*")), "nothing is half written"
    assert codes[-1] == 0 and codes.count(2) > 2, codes
    assert faults.state(course) == want


def test_a_clock_that_jumps(course, want, tmp_path):
    """While student code runs it is yesterday for all processes of a grading, then today again."""
    yesterday = tmp_path / "yesterday"
    (tmp_path / "sitecustomize.py").write_text(
        f"import os, time\nreal = time.time\ntime.time = lambda: real() - 86_400 * os.path.exists({str(yesterday)!r})\n"
    )
    grading = faults.grade(course, "--workers", "2", PYTHONPATH=str(tmp_path))
    for jump in (yesterday.touch, yesterday.unlink):
        seen = set()
        while grading.poll() is None and len(seen) < 2:
            seen |= {one for one in faults.processes((grading.pid, "main")) if one.kind == "submission"}
            time.sleep(0.01)
        jump()
    assert grading.wait(PATIENCE) == 0, faults.printed(course)
    assert faults.state(course) == want


def test_limits_go_by_a_clock_that_can_not_jump(sandbox, monkeypatch):
    real, looks = time.time, itertools.cycle((-86_400, 86_400))
    monkeypatch.setattr(time, "time", lambda: real() + next(looks))
    process = sandbox.open()
    assert process.cell("1 + 1", 60)["error"] is None
    with pytest.raises(ProcessLost) as lost:
        process.cell("while True: pass", 1)
    assert lost.value.outcome == "timed out"


def test_a_resubmission_never_shows_an_older_score(course, graded, monkeypatch):
    assert graded(course)[0] == 0
    first = faults.state(course)
    complete = {i: answer(i) for i in faults.find_ids()}
    faults.hand_in(course, "ada", {"1.5a": complete["1.5a"]})
    end = Recorder.submission

    @contextlib.contextmanager
    def interrupted(recorder, student, folder):
        with end(recorder, student, folder) as entry:
            yield entry
            raise KeyboardInterrupt

    monkeypatch.setattr(Recorder, "submission", interrupted)
    assert graded(course)[0] == 130
    monkeypatch.undo()
    assert not list((course.feedback / "ada").rglob("*.html"))
    assert graded(course)[0] == 0
    second = faults.state(course)
    assert sum(a for a, _, _ in second["gradebook"]["ada"]["grades"].values()) == 2
    faults.hand_in(course, "ada", complete)
    assert graded(course)[0] == 0
    assert faults.state(course) == first


def test_another_submission_with_the_same_score(course, graded):
    """Right in one exercise, then right in another of as many points, then as at first: what is shown follows."""
    states = []
    for exercise_id in ("2.6", "2.15", "2.6"):
        faults.hand_in(course, "ada", {exercise_id: answer(exercise_id)})
        assert graded(course, "--student", "ada")[0] == 0
        states.append(faults.state(course))
    assert states[0] != states[1] and states[0] == states[2]


def test_any_order_and_any_number_of_workers(handed_in, want, cluster, graded, tmp_path, monkeypatch):
    found = engine.find_submissions
    for count in (1, 2, 3):
        cluster.scale(count)
        course = faults.copy(handed_in, tmp_path / f"by {count}")
        order = random.Random(count)
        monkeypatch.setattr(engine, "find_submissions", lambda *a: order.sample(s := found(*a), len(s)))  # noqa: B023
        assert graded(course)[0] == 0
        assert faults.state(course) == want
