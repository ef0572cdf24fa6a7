"""Where notebooks are run and judged: Dask workers, on this machine or on a cluster.

A worker needs this package and bubblewrap, and neither the gradebook nor the course secret:
a task carries the restored notebook and that student's own seeds.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

import dask
from distributed import Client, LocalCluster, Worker, WorkerPlugin, get_worker
from distributed.security import Security

from ..sandbox import Limits, Sandbox, SandboxUnavailable
from .course import CourseError
from .restore import Restored
from .run import Graded, grade_notebook

RETRIES = 3  # a task whose worker died starts again elsewhere


@dataclass(frozen=True)
class Task:
    """One submitted notebook to run and judge."""

    student: str
    notebook: str
    restored: Restored
    seeds: dict[str, int]


@dataclass(frozen=True)
class Crew:
    """Who does the work. scheduler: a Dask address; None starts `count` local processes.

    certificates: folder with ca.pem, cert.pem and key.pem, for a scheduler that is not on loopback.
    """

    count: int = 0
    scheduler: str | None = None
    certificates: Path | None = None
    walls: bool = True

    @property
    def size(self) -> int:
        return self.count or os.cpu_count() or 1


class WarmSandbox(WorkerPlugin):
    """One warm sandbox a worker, opened when the worker joins."""

    name = "autograder-sandbox"
    idempotent = True

    def __init__(self, walls: bool, limits: Limits = Limits()) -> None:
        self.walls, self.limits = walls, limits

    def setup(self, worker: Worker) -> None:
        import torch

        torch.set_num_threads(1)
        worker.autograder_sandbox = Sandbox(self.walls, self.limits)

    def teardown(self, worker: Worker) -> None:
        worker.autograder_sandbox.close()


def work(task: Task) -> Graded:
    """Run and judge one notebook on the worker that this is called on."""
    worker = get_worker()
    if not worker.autograder_sandbox.alive or worker.autograder_sandbox.runner.poll() is not None:
        # the template died: this worker gets a new one
        old = worker.autograder_sandbox
        old.close()
        worker.autograder_sandbox = Sandbox(old.walls, old.limits)
    return grade_notebook(task.restored, worker.autograder_sandbox, task.seeds.__getitem__)


@contextlib.contextmanager
def hired(crew: Crew) -> Iterator[Client]:
    """A Dask client with warm workers. Errors: CourseError, SandboxUnavailable."""
    for name in ("asyncio", "distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.scheduler.allowed-failures": RETRIES,
        "distributed.scheduler.worker-ttl": None,  # goes by the clock on the wall, which may jump
    }
    multiprocessing.set_forkserver_preload([__name__])  # workers share one import of torch
    with dask.config.set(settings), contextlib.ExitStack() as stack:
        client = stack.enter_context(_remote(crew) if crew.scheduler else _local(crew, stack))
        try:
            client.register_plugin(WarmSandbox(crew.walls))
        except SandboxUnavailable:
            raise
        except Exception as error:
            raise CourseError(f"a worker could not be made ready: {error}; run the same command again") from None
        yield client


def _local(crew: Crew, stack: contextlib.ExitStack) -> Client:
    try:
        cluster = LocalCluster(
            n_workers=crew.size, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", memory_limit=0, silence_logs=logging.CRITICAL,
        )  # fmt: skip
    except RuntimeError as error:
        raise CourseError(f"no worker processes could be started: {error} Run the same command again") from None
    return Client(stack.enter_context(cluster))


def _remote(crew: Crew) -> Client:
    loopback = "127.0.0.1" in crew.scheduler or "localhost" in crew.scheduler
    if not loopback and crew.certificates is None:
        raise CourseError(
            f"the scheduler {crew.scheduler} is on another machine; name its certificates with --certificates, "
            "the folder with ca.pem, cert.pem and key.pem"
        )
    try:
        return Client(crew.scheduler, security=security(crew.certificates), timeout=10)
    except (OSError, ValueError) as error:
        raise CourseError(f"no Dask scheduler answers at {crew.scheduler}: {error}") from None


def security(folder: Path | None) -> Security | None:
    """TLS for client, scheduler and workers from one folder of certificates; None without one."""
    if folder is None:
        return None
    paths: dict[str, Any] = {"tls_ca_file": str(folder / "ca.pem")}
    for role in ("client", "scheduler", "worker"):
        paths[f"tls_{role}_cert"] = str(folder / "cert.pem")
        paths[f"tls_{role}_key"] = str(folder / "key.pem")
    return Security(require_encryption=True, **paths)
