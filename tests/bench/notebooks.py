"""What a student's machine needs: seconds and memory of each notebook run whole, and of each visible check.

    python -m tests.bench.notebooks          the last line is JSON; exit code 1 where a limit is passed

Notebooks run on one core, one after the other, each in a kernel of its own, with the answers in place.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from statistics import median

import nbformat
import torch
from nbclient import NotebookClient

from autograder.build.execute import kernel_environment
from autograder.exercises import all_exercises
from autograder.item import run_item
from autograder.kernel import LocalAnswer

from .classes import ASSIGNMENT, ROOT
from .watched import family, pss

LIMITS = {"notebook_s": 20, "course_s": 90, "peak_mb": 700, "check_median_s": 0.3}
ANSWERS = ROOT / "tests" / "answers"
TIMES = 5  # runs of a check, of which the median counts


def main() -> int:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ.update(kernel_environment())
    torch.set_num_threads(1)
    notebooks = {}
    for path in sorted((ROOT / "solutions" / ASSIGNMENT).glob("*.ipynb")):
        seconds, peak = _run(path)
        notebooks[path.stem] = {"seconds": round(seconds, 1), "peak_mb": round(peak)}
        print(f"{path.stem:32} {seconds:5.1f} s  {peak:4.0f} MB", flush=True)
    checks = {exercise_id: round(_check(exercise_id), 3) for exercise_id in all_exercises()}
    for exercise_id, seconds in checks.items():
        print(f"check {exercise_id:5} {seconds:.3f} s")
    figures = {
        "notebooks": notebooks,
        "course_seconds": round(sum(n["seconds"] for n in notebooks.values()), 1),
        "peak_mb": max(n["peak_mb"] for n in notebooks.values()),
        "check_median_s": round(median(checks.values()), 3),
        "check_slowest_s": max(checks.values()),
        **{f"minutes_{level}": sum(e.minutes for e in all_exercises().values() if e.level == level)
           for level in ("core", "stretch")},
    }  # fmt: skip
    passed = {
        "notebook_s": max(n["seconds"] for n in notebooks.values()),
        "course_s": figures["course_seconds"],
        "peak_mb": figures["peak_mb"],
        "check_median_s": figures["check_slowest_s"],
    }
    over = [f"{name} {value:g}, at most {LIMITS[name]:g}" for name, value in passed.items() if value > LIMITS[name]]
    for line in over:
        print(f"over the limit: {line}")
    print(json.dumps(figures))
    return 1 if over else 0


def _run(path: Path) -> tuple[float, float]:
    """Seconds that all cells took, kernel start included, and the most MB (PSS) of the kernel with its children."""
    client = NotebookClient(nbformat.read(path, as_version=4), timeout=300, resources={"metadata": {"path": str(path.parent)}})
    peak, done = 0.0, threading.Event()

    def look() -> None:
        nonlocal peak
        while not done.wait(0.2):
            peak = max(peak, sum(pss(pid) for pid in family(os.getpid()) if pid != os.getpid()))

    watcher = threading.Thread(target=look)
    watcher.start()
    begun = time.perf_counter()
    try:
        client.execute()
    finally:
        seconds = time.perf_counter() - begun
        done.set()
        watcher.join()
    return seconds, peak


def _check(exercise_id: str) -> float:
    """Median seconds of an exercise's public cases, put to a right answer in a warm process."""
    exercise = all_exercises()[exercise_id]
    names: dict = {"__name__": "__main__"}
    exec(sorted((ANSWERS / exercise_id).glob("right_*.py"))[0].read_text(encoding="utf-8"), names)  # noqa: S102
    times = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        run_item(exercise, LocalAnswer(names[exercise.answer]), None)
        times.append(time.perf_counter() - begun)
    return median(times)


if __name__ == "__main__":
    sys.exit(main())
