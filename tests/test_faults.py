"""Faults: whatever is killed, full, locked, lost or interrupted, the same command finishes with the same result."""

import random
import time
from collections import Counter

import dask
import pytest
from distributed import LocalCluster

from autograder.cli import main
from autograder.judge import course_secret

from . import faults
from .conftest import needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.long]
SEED, HITS = 4, 30
MOMENTS = {"cluster": 40, "local": 10}  # on a cluster that outlives gradings, and with workers of its own
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
        n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0, silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture
def graded(cluster, capfd):
    """Grades a course in this process, on the cluster: (exit code, all that was printed)."""

    def grade(course, *words):
        capfd.readouterr()
        code = main(["--course", str(course.root), "grade", "--scheduler", cluster.scheduler_address, *words])
        return code, "".join(capfd.readouterr())

    return grade


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
    """Half of the gradings of a course are disturbed, the next one is not, and nobody can tell."""
    address = cluster.scheduler_address
    places = {
        "cluster": (lambda c: faults.grade(c, "--scheduler", address), lambda: workers(cluster), CLUSTER),
        "local": (lambda c: faults.grade(c, "--workers", "1"), lambda: [], LOCAL),
    }
    rng, left, hits = random.Random(SEED), dict(MOMENTS), Counter()
    while any(left.values()):
        place = max(left, key=left.get)
        start, others, kinds = places[place]
        course = faults.copy(handed_in, tmp_path / f"{place}{left[place]}")
        for _ in range(2):
            begun = time.monotonic()
            hit, used, seen = disturb(course, start, others, kinds, rng, min(5, left[place]))
            hits.update(hit)
            left[place] -= used
            print(place, used, hit, f"{time.monotonic() - begun:.1f}")
            if place == "local":
                assert_gone(seen)
            if not left[place]:
                break
        begun = time.monotonic()
        finish(course, start)
        print('finish', f'{time.monotonic() - begun:.1f}')
        assert faults.state(course) == want, hit
    print(f"{sum(MOMENTS.values())} moments, {hits.total()} met a process: {dict(hits)}")
    assert hits.total() >= HITS and hits["main"] and set(RARE) <= set(hits)
