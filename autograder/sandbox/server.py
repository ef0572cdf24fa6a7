"""Runs inside the sandbox: a template that forks, and the forks that run student code.

Every process speaks the same few operations on its own socket. What comes down is
pickled by the trusted side; what goes up passes `wire.encode`. A student's code can
do to its own process what it likes: all that leaves is data, and the judge asks fresh questions.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pickle
import resource
import signal
import socket
import sys
import time
from typing import Any

from .. import wire
from .bubblewrap import needed_paths
from .confine import forbid_calls
from .frames import recv_frame, send_frame
from .memory import ending, resident, watch

_libc = ctypes.CDLL(None, use_errno=True)
_NEW_USER, _NEW_NS, _NEW_PID, _NEW_IPC = 0x10000000, 0x00020000, 0x20000000, 0x08000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _DEEP = 2, 4, 8, 0x1000, 0x4000
_PRIVATE = 0x40000 | _DEEP


def main() -> None:
    """Entry point of the template: `python -m autograder.sandbox.server FD [--walls]`."""
    sock = socket.socket(fileno=int(sys.argv[1]))
    walls = "--walls" in sys.argv
    if walls:
        _enter()
    _warm()
    send_frame(sock, wire.encode("ready"))
    Server(sock, walls).serve()


class Server:
    """Answers operations on one socket until the other side is gone."""

    def __init__(self, sock: socket.socket, walls: bool) -> None:
        self.sock, self.walls = sock, walls
        self.children: dict[int, int] = {}  # pid that we reap -> pid that we kill

    def serve(self) -> None:
        while True:
            try:
                frame, fds = recv_frame(self.sock, descriptors=3)
            except (EOFError, OSError):
                os._exit(0)
            request = pickle.loads(frame)
            operation = getattr(self, f"do_{request.pop('op')}")
            try:
                reply = operation(fds, **request)
            except OSError as error:  # no processes or descriptors left: this request fails, not the server
                reply = {"outcome": "infrastructure failure", "text": str(error)}
            try:
                message = wire.encode(reply)
            except wire.TooLarge as error:
                message = wire.encode({"outcome": "output too large", "text": str(error)})
            send_frame(self.sock, message)

    def do_fork(self, fds: list[int], isolate: bool, limits: dict) -> int:
        """Fork a process that serves the socket fds[0] and prints to fds[1] and fds[2]."""
        if isolate and self.walls:
            outer, inner = _fork_isolated(lambda: self._child(fds, limits), limits["memory"])
        else:
            outer = inner = os.fork()
            if outer == 0:
                self._child(fds, limits)
        for fd in fds:
            os.close(fd)
        self.children[outer] = inner
        return outer

    def _child(self, fds: list[int], limits: dict) -> None:
        """Become the child; never returns."""
        try:
            self.sock.close()
            os.setsid()  # signals to its group reach what it started, and nobody above it
            os.dup2(fds[1], 1)
            os.dup2(fds[2], 2)
            os.close(fds[1])
            os.close(fds[2])
            signal.signal(signal.SIGINT, signal.default_int_handler)  # as a notebook has it; a worker ignores it
            sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
            sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
            if limits:
                _limit(limits)
            Server(socket.socket(fileno=fds[0]), walls=False).serve()
        finally:
            os._exit(70)

    def do_kill(self, fds: list[int], pid: int, ended: bool) -> dict:
        """Kill a child with all that it started; for one that `ended` by itself, say how (see `memory.ending`)."""
        inner = self.children.pop(pid, None)
        if inner is None:
            return {"code": None}
        deadline = time.monotonic() + (1.0 if ended else 0.0)
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() >= deadline:
                _kill(inner)
                os.waitpid(pid, 0)
                _end_group(inner)
                return {"code": None}
            time.sleep(0.005)
        code = os.waitstatus_to_exitcode(status)
        if inner == pid:
            _end_group(pid)
            return {"code": code}
        if code < 0:  # the process between was ended, which may have left the submission alone in the world
            _kill(inner)
            return {"code": code}
        return ending(code)

    def do_cell(self, fds: list[int], source: str) -> dict:
        """Run one cell; what it displays and how it failed come back, prints go to the pipes."""
        from . import cells

        return cells.run(source)

    def do_call(self, fds: list[int], **request: Any) -> dict:
        """Call a name of the notebook with arguments; live objects among them ask through `ask`."""
        from . import cells

        return cells.call(ask=self._ask, **request)

    def _ask(self, live: int, name: str, args: list, kwargs: dict) -> Any:
        send_frame(self.sock, wire.encode({"ask": [live, name, args, kwargs]}))
        answer = wire.decode(recv_frame(self.sock)[0])
        if "refused" in answer:
            raise ValueError(answer["refused"])
        return answer["value"]


def _kill(pid: int) -> None:
    """End a child of the server with its process group."""
    for kill in (os.killpg, os.kill):  # alone where it has not come to make its group yet
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)


def _end_group(pid: int) -> None:
    """End what a child left running, which would be in the way of the next; dead ones count too until waited for."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.killpg(pid, signal.SIGKILL)
        while True:
            os.waitpid(-pid, 0)


def _warm() -> None:
    """Import and touch what every notebook needs, in one thread: a fork then starts at once."""
    import torch

    torch.set_num_threads(1)
    from . import cells

    cells.run("from autograder import explore\n%matplotlib inline\nimport matplotlib.pyplot as plt")
    cells.run("plt.plot([0, 1])\nplt.show()\ndel plt, explore")
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.ReLU(), torch.nn.Dropout())
    for optimizer in (torch.optim.SGD(model.parameters(), lr=0.1), torch.optim.Adam(model.parameters())):
        loss = torch.nn.functional.cross_entropy(model(torch.randn(4, 2)), torch.tensor([0, 1, 2, 0]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    pickle.loads(pickle.dumps(model))  # tensors come down as pickles, whose reader imports on its first use
    gc.collect()
    gc.freeze()  # a collection in a fork would visit, and so copy, all that the template holds
    _gather_pages()


def _gather_pages() -> None:
    """Ask the kernel for huge pages where the template's memory lies: a fork has fewer page tables to copy."""
    if not os.path.exists("/proc/self/maps"):  # no Linux: forks are slower there, and nothing else
        return
    with open("/proc/self/maps") as file:
        lines = [line.split() for line in file]
    for place, rights, _, _, inode, *_ in lines:
        start, end = (int(part, 16) for part in place.split("-"))
        if rights == "rw-p" and inode == "0" and end - start >= 1 << 21:
            _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), 25)  # MADV_COLLAPSE, or no difference


def _enter() -> None:
    """As root inside fresh walls: mount /proc, then be nobody for good."""
    if os.geteuid() != 0 or os.path.exists("/proc/self"):
        return
    _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    _libc.prctl(4, 1, 0, 0, 0)  # dumpable again, so that /proc/self can be written for the forks


def _fork_isolated(child: Any, memory: int) -> tuple[int, int]:
    """Fork into own user, pid, mount and ipc namespaces; (pid to reap, pid to kill).

    The process between waits for the child and watches that its processes together stay below `memory`.
    """
    reader, writer = os.pipe()
    limit = memory + resident("self")  # what a fork holds to begin with is the template's
    outer = os.fork()
    if outer:
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            inner = pipe.read()
        return outer, int(inner or b"0") or outer
    try:
        os.close(reader)
        uid, gid = os.getuid(), os.getgid()
        if _libc.unshare(_NEW_USER | _NEW_NS | _NEW_PID | _NEW_IPC):
            raise OSError(ctypes.get_errno(), "no namespaces of its own for a submission")
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
        inner = os.fork()
        if inner == 0:
            os.close(writer)
            _libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # nobody would watch over it without the process between
            _private_mounts()
            child()
        os.write(writer, str(inner).encode())
        os.close(writer)
        _close_all_but_std()
        os._exit(watch(inner, limit))
    finally:
        os._exit(71)


def _close_all_but_std() -> None:
    """The process between only watches; an open end of a channel would hide that the child died."""
    os.closerange(0, 1024)


def _private_mounts() -> None:
    """An own /proc, /tmp and /dev/shm; then no capability and no further namespace."""
    _mount(None, "/", None, _PRIVATE)
    _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    kept = {path: os.open(path, os.O_PATH) for path in needed_paths() if path.startswith("/tmp/")}
    for path in ("/tmp", "/dev/shm"):
        _mount("tmpfs", path, "tmpfs", _NOSUID | _NODEV, "size=64m,nr_inodes=4096,mode=1777")
    for path, descriptor in kept.items():  # Python itself may lie below /tmp
        os.makedirs(path)
        _mount(f"/proc/self/fd/{descriptor}", path, None, _BIND | _DEEP)
        os.close(descriptor)
    os.chdir("/tmp")
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    _libc.prctl(38, 1, 0, 0, 0)  # no new privileges
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if _libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())):
        raise OSError(ctypes.get_errno(), "capabilities could not be given up")
    forbid_calls(_libc)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [t.encode() if t is not None else None for t in (source, target, kind)]
    if _libc.mount(*texts, flags, data.encode() if data else None):
        raise OSError(ctypes.get_errno(), f"mount {target}")


def _limit(limits: dict) -> None:
    """Limits of this process and its children; `memory` is what it may use beyond the template."""
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    for kind, value in (
        (resource.RLIMIT_AS, mapped + limits["memory"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, limits["descriptors"]),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    main()
