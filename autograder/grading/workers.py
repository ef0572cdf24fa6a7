"""Where notebooks are run and judged: Dask workers, on this machine or on a cluster.

A worker needs this package and bubblewrap, and neither the gradebook nor the course secret:
a task carries the restored notebook and that student's own seeds.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import ipaddress
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator

import dask
from distributed import Client, LocalCluster, Worker, WorkerPlugin, get_worker
from distributed.comm.addressing import get_address_host
from distributed.deploy.spec import close_clusters
from distributed.security import Security

from ..sandbox.limits import Limits, SandboxUnavailable
from .cache import software
from .course import CourseError
from .prepare import prepare
from .task import Graded, Task

if TYPE_CHECKING:
    from ..sandbox import Sandbox

RETRIES = 3  # a task whose worker died starts again elsewhere
PATIENCE = 60  # seconds to wait for the first worker of a cluster
CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")


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
    """One warm sandbox a worker, opened when the worker joins; a worker that can't serve leaves again."""

    idempotent = True  # a cluster keeps its sandboxes from one grading to the next

    def __init__(self, walls: bool, limits: Limits = Limits()) -> None:
        self.walls, self.limits, self.software = walls, limits, software()
        self.name = self.named(walls)
        self.sandbox: Sandbox | None = None

    @staticmethod
    def named(walls: bool) -> str:
        """Gradings that differ in walls or in their software never share a sandbox."""
        return f"autograder-{'walls' if walls else 'open'}-{software()[:16]}"

    def setup(self, worker: Worker) -> None:
        try:
            self._check(worker)
            self.open()
        except Exception as error:
            worker.loop.add_callback(worker.close)  # a worker that stays would only fail tasks
            kind = SandboxUnavailable if isinstance(error, SandboxUnavailable) else CourseError
            raise kind(f"the worker at {worker.address}: {error}") from None

    def _check(self, worker: Worker) -> None:
        if worker.state.nthreads != 1:
            raise CourseError("it has several threads, which would share a sandbox; start it with --nthreads 1")
        if software() != self.software:
            raise CourseError(
                "it has another version of autograder, Python, torch, numpy or IPython than this machine; "
                "install the same on both"
            )

    def open(self) -> None:
        """Start the sandbox. Errors: SandboxUnavailable."""
        import torch

        from ..sandbox import Sandbox

        torch.set_num_threads(1)
        self.sandbox = Sandbox(self.walls, self.limits)

    def teardown(self, worker: Worker) -> None:
        if self.sandbox is not None:
            self.sandbox.close()


def work(task: Task, walls: bool) -> Graded:
    """Run and judge one notebook on the worker that this is called on."""
    from .run import grade_task  # torch comes with it, which the process that hands out work can do without

    plugin = get_worker().plugins[WarmSandbox.named(walls)]
    if not plugin.sandbox.alive or plugin.sandbox.runner.poll() is not None:  # its template died: it gets a new one
        plugin.sandbox.close()
        plugin.open()
    return grade_task(task, plugin.sandbox)


@contextlib.contextmanager
def hired(crew: Crew) -> Iterator[Client]:
    """A Dask client with warm workers. Errors: CourseError, SandboxUnavailable."""
    for name in ("asyncio", "distributed", *(f"distributed.{n}" for n in ("client", "nanny", "worker", "scheduler"))):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.scheduler.allowed-failures": RETRIES,
        "distributed.scheduler.worker-ttl": None,  # goes by the clock on the wall, which may jump
    }
    with dask.config.set(settings), contextlib.ExitStack() as stack:
        client = stack.enter_context(_remote(crew) if crew.scheduler else _local(crew, stack))
        plugin = WarmSandbox(crew.walls)
        try:
            client.register_plugin(plugin)
        except Exception as error:
            with contextlib.suppress(Exception):  # or the next grading would take it for a plugin that works
                client.unregister_worker_plugin(plugin.name)
            foreseen = isinstance(error, (SandboxUnavailable, CourseError))
            trouble = CourseError(f"a worker could not be made ready: {error}; run the same command again")
            raise error if foreseen else trouble from None
        yield client


def _local(crew: Crew, stack: contextlib.ExitStack) -> Client:
    prepare()
    importlib.import_module(".clock", __package__)
    try:
        cluster = LocalCluster(
            n_workers=crew.size, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", memory_limit=0, silence_logs=logging.CRITICAL,
        )  # fmt: skip
    except RuntimeError as error:
        raise CourseError(f"no worker processes could be started: {error} Run the same command again") from None
    except KeyboardInterrupt:
        atexit.unregister(close_clusters)  # it would wait for half a cluster, whose processes end with this one
        raise
    return Client(stack.enter_context(cluster))


def _remote(crew: Crew) -> Client:
    address = crew.scheduler
    if not _on_loopback(address) and crew.certificates is None:
        raise CourseError(
            f"the scheduler {address} is on another machine; name its certificates with --certificates, "
            f"the folder with {', '.join(CERTIFICATES)}"
        )
    if crew.certificates and not address.startswith("tls://"):
        raise CourseError(f"the scheduler {address} has no encryption; with --certificates it is tls://HOST:PORT")
    try:
        client = Client(address, security=security(crew.certificates), timeout=10)
    except (OSError, ValueError) as error:
        raise CourseError(f"no Dask scheduler answers at {address}: {error}") from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        client.close()
        raise CourseError(f"the scheduler {address} has no worker; start one and run this again") from None
    return client


def _on_loopback(address: str) -> bool:
    """Whether nobody but this machine can be at an address. Errors: CourseError for what is no address."""
    try:
        host = get_address_host(address)
    except ValueError:
        raise CourseError(f"{address!r} is no address of a scheduler; write tls://HOST:PORT") from None
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def security(folder: Path | None) -> Security | None:
    """TLS for client, scheduler and workers from one folder of certificates; None without one.

    Errors: CourseError for a folder that lacks one of them.
    """
    if folder is None:
        return None
    for name in CERTIFICATES:
        if not os.access(folder / name, os.R_OK):
            raise CourseError(f"{folder / name} can't be read; it belongs in the folder of --certificates")
    paths: dict[str, Any] = {"tls_ca_file": str(folder / "ca.pem")}
    for role in ("client", "scheduler", "worker"):
        paths[f"tls_{role}_cert"] = str(folder / "cert.pem")
        paths[f"tls_{role}_key"] = str(folder / "key.pem")
    return Security(require_encryption=True, **paths)
