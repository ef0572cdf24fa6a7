"""The memory of a submission: of all its processes together, since the kernel's limit is for each alone."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

SECONDS = 0.1  # between two looks; far below what it takes to fill a machine
TOO_MUCH = 192  # exit code for a submission that was ended for its memory; no submission's own
_PAGE = resource.getpagesize()


def watch(first: int, limit: int) -> int:
    """Wait for a submission's first process, and end it with all others when they hold over `limit` bytes.

    To be called in its mount namespace and outside its pid namespace.
    Returns: an exit code that `ending` reads.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    ended_here = False
    while True:
        done, status = os.waitpid(first, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return TOO_MUCH if ended_here else 256 + code if code < 0 else min(code, TOO_MUCH - 1)
        # once the submission has its own /proc, this process, being no part of it, finds no self there
        if not os.path.exists("/proc/self") and held(limit) > limit:
            os.kill(first, signal.SIGKILL)
            ended_here = True
        signal.sigtimedwait([signal.SIGCHLD], SECONDS)


def ending(code: int) -> dict:
    """How a submission ended whose `watch` returned `code`: its exit code, a signal as a negative one."""
    if code == TOO_MUCH:
        return {"code": -signal.SIGKILL, "cause": "memory"}
    return {"code": code - 256 if code > TOO_MUCH else code}


def held(enough: int) -> int:
    """Bytes held by all processes in /proc; shared pages count once where the plain sum tops `enough`."""
    pids = [entry for entry in os.listdir("/proc") if entry.isdigit()]
    total = sum(map(resident, pids))
    return total if total <= enough else sum(map(_share, pids))


def resident(pid: str) -> int:
    """Bytes of a process in memory, shared pages included."""
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * _PAGE if fields else 0


def _share(pid: str) -> int:
    """What the kernel charges a process with: a page that n processes share counts as 1/n of a page."""
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return resident(pid)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:  # gone meanwhile, or hidden by its owner
        return ""
