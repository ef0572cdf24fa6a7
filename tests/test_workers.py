"""Which schedulers and workers are taken, and how much is handed to them at once."""

import pickle
from concurrent.futures import Future
from contextlib import contextmanager

import pytest
from distributed import Client, LocalCluster

from autograder.grading import engine, workers
from autograder.grading.course import CourseError
from autograder.grading.restore import restore
from autograder.grading.submissions import Submission
from autograder.grading.task import Graded
from autograder.grading.workers import Crew, hired
from autograder.judge import course_secret

from . import example_class
from .conftest import needs_bubblewrap


@pytest.mark.parametrize(
    "address, told",
    [
        ("tcp://10.77.0.1:8786", "is on another machine; name its certificates"),
        ("tls://10.77.0.1:8786", "is on another machine; name its certificates"),
        ("tcp://127.0.0.1.example.org:8786", "is on another machine"),
        ("tcp://localhost.example.org:8786", "is on another machine"),
        ("nowhere://", "is no address of a scheduler"),
        ("tcp://127.0.0.1:1", "no Dask scheduler answers at tcp://127.0.0.1:1"),
    ],
)  # fmt: skip
def test_schedulers_that_are_refused(address, told):
    with pytest.raises(CourseError) as refused, hired(Crew(scheduler=address)):
        pass
    assert told in str(refused.value) and "\n" not in str(refused.value)


def test_certificates_that_are_refused(tmp_path):
    with pytest.raises(CourseError, match="it is tls://HOST:PORT"), hired(Crew(scheduler="tcp://10.77.0.1:8786", certificates=tmp_path)):
        pass
    (tmp_path / "ca.pem").touch()
    with pytest.raises(CourseError, match="cert.pem can't be read"), hired(Crew(scheduler="tls://10.77.0.1:8786", certificates=tmp_path)):
        pass


@contextmanager
def cluster(**settings):
    """A scheduler on loopback that is not ours to start."""
    with LocalCluster(host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50, **settings) as made, Client(made) as client:
        yield made.scheduler_address, client


def test_a_scheduler_without_workers(monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 1)
    with cluster(n_workers=0) as (address, _), pytest.raises(CourseError, match="has no worker"), hired(Crew(scheduler=address)):
        pass


def test_a_worker_with_several_threads_is_refused_and_nothing_of_it_stays():
    with cluster(n_workers=1, threads_per_worker=2) as (address, client):
        with pytest.raises(CourseError, match="start it with --nthreads 1"), hired(Crew(scheduler=address)):
            pass
        assert not client.run_on_scheduler(lambda dask_scheduler: [n for n in dask_scheduler.worker_plugins if "autograder" in n])


@needs_bubblewrap
def test_a_grading_without_walls_never_lends_its_sandbox_to_one_with_walls():
    def confined(dask_worker, walls):
        return dask_worker.plugins[workers.WarmSandbox.named(walls)].sandbox.walls

    with cluster(n_workers=1, threads_per_worker=1) as (address, client):
        for walls in (True, False, True):
            with hired(Crew(scheduler=address, walls=walls)):
                assert list(client.run(confined, walls=walls).values()) == [walls]


class CountingClient:
    """Takes tasks as a scheduler does, and finishes the oldest only when one is waited for."""

    def __init__(self):
        self.flying, self.most, self.seen, self.sent = {}, 0, 0, set()

    def nthreads(self):
        return {"one": 1, "two": 1}

    def submit(self, function, task, *_, **__):
        self.sent.add(pickle.dumps(task)) if self.seen < 3 else None
        self.seen += 1
        future = Future()
        future.key, future.release = f"task-{self.seen}", lambda: None
        self.flying[future.key] = (future, task)
        self.most = max(self.most, len(self.flying))
        return future

    def add(self, future):
        assert future.key in self.flying

    def __next__(self):
        future, task = self.flying.pop(next(iter(self.flying)))
        future.set_result(Graded(task.restored.notebook))
        return future


class NoRecorder:
    """Stands where the gradebook would be written."""

    def __init__(self, course):
        self.notes = []

    def close(self):
        pass

    @contextmanager
    def submission(self, student, folder):
        yield self

    def notebook(self, name, graded):
        pass

    def total(self):
        return 0.0, 10.0


class NothingKnown:
    """Stands where the cache would be read and written."""

    cache, walls = None, True

    def __init__(self, *_):
        pass

    def recall(self, given):
        return None if isinstance(given, Submission) else given

    def keep(self, *_):
        pass


def test_ten_thousand_submissions_do_not_fill_memory(tmp_path, monkeypatch):
    course = example_class.small_course(tmp_path / "course")
    (name,) = course.notebooks()
    restored = restore(course.release_notebook(name), course.source_notebook(name), course.release_notebook(name))
    client = CountingClient()
    held = {"now": 0, "most": 0}

    def read(course, path, name):
        held["now"] += 1
        held["most"] = max(held["most"], held["now"])
        return restored

    monkeypatch.setattr(engine, "read", read)
    monkeypatch.setattr(engine, "find_submissions", lambda course, student: (Submission(f"s{n}", tmp_path, {name: tmp_path}) for n in range(10_000)))
    for stand_in, where in ((NoRecorder, "Recorder"), (NothingKnown, "Submissions"), (NothingKnown, "Notebooks")):
        monkeypatch.setattr(engine, where, stand_in)
    monkeypatch.setattr(engine, "hired", contextmanager(lambda crew: iter([client])))
    monkeypatch.setattr(engine, "as_completed", lambda: client)
    graded = 0
    for result in engine.grade_class(course, crew=Crew(count=2)):
        assert not result.failed
        held["now"] -= 1
        graded += 1
    assert graded == client.seen == 10_000
    assert client.most <= 2 * engine.AHEAD and held["most"] <= 2 * engine.AHEAD + 1
    secret = course_secret(course.secret)
    assert client.sent and not any(secret in sent or secret.hex().encode() in sent for sent in client.sent)
