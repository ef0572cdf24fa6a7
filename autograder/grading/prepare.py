"""Start what local workers are forked from, while the command itself still imports what it needs."""

from __future__ import annotations

import multiprocessing
from multiprocessing import forkserver

OURS = tuple(f"autograder.grading.{name}" for name in ("forked", "clock", "run", "workers"))
LOADED = [*OURS, "distributed.nanny"]


def prepare() -> None:
    """Have a process import torch and the judge once, for all workers of this machine; returns at once."""
    multiprocessing.set_forkserver_preload(LOADED)
    forkserver.ensure_running()
