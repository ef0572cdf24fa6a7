"""Calls in forked processes, a few at a time, each with a limit of time and memory.

torch is imported and warmed up once, before the first fork; a fork then costs milliseconds,
and whatever a call breaks dies with it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Callable, Iterable, Iterator

MEMORY = 3 * 1024**3  # bytes beyond what the parent already maps


@dataclass(frozen=True)
class Ended:
    """How a call ended: its value, or `lost` with the reason why there is none."""

    value: Any = None
    lost: str = ""


@dataclass
class _Running:
    key: Any
    process: multiprocessing.Process
    pipe: Connection
    deadline: float


def run_forked(
    calls: Iterable[tuple[Any, Callable[[], Any], float]], workers: int = 2
) -> Iterator[tuple[Any, Ended]]:
    """Run calls, given as (key, function, seconds), and yield (key, how it ended) as they end.

    The seconds are of processor time, so a busy machine condemns nothing; a call that sleeps
    is stopped after three times as long by the clock.
    """
    running: list[_Running] = []
    waiting = iter(calls)
    exhausted = False
    try:
        while running or not exhausted:
            while len(running) < workers and not exhausted:
                call = next(waiting, None)
                exhausted = call is None
                if call is not None:
                    running.append(_start(*call))
            yield from _ended(running)
    finally:
        for one in running:
            _stop(one)


def _start(key: Any, function: Callable[[], Any], seconds: float) -> _Running:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(function, theirs, seconds))
    process.start()
    theirs.close()
    return _Running(key, process, ours, time.monotonic() + 3 * seconds + 5)


def _ended(running: list[_Running]) -> list[tuple[Any, Ended]]:
    """Wait for the first calls to end or to run over their time; take them off the list."""
    if not running:
        return []
    rest = max(0.0, min(one.deadline for one in running) - time.monotonic())
    ready = wait([one.pipe for one in running], timeout=rest)
    found = []
    for one in list(running):
        if one.pipe in ready:
            found.append((one.key, _result(one)))
        elif time.monotonic() >= one.deadline:
            found.append((one.key, Ended(lost="timed out")))
        else:
            continue
        _stop(one)
        running.remove(one)
    return found


def _result(one: _Running) -> Ended:
    try:
        return Ended(one.pipe.recv())
    except (EOFError, OSError):
        one.process.join()
        late = one.process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        return Ended(lost="timed out" if late else "the process died")


def _stop(one: _Running) -> None:
    """End a call's process and everything that it started (it leads a group of its own)."""
    if one.process.is_alive():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(one.process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(one.process.pid, signal.SIGKILL)
    one.process.join()
    one.pipe.close()


def _child(function: Callable[[], Any], pipe: Connection, seconds: float) -> None:
    os.setpgid(0, 0)
    silence = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silence, descriptor)
    _limit(seconds)
    pipe.send(function())
    os._exit(0)


def _limit(seconds: float) -> None:
    """Bound memory and processor time; the parent's clock bounds sleep."""
    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
    spent = int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (spent, spent + 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
