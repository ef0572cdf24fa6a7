"""Run the benchmark; the last line is JSON."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from autograder.grading.course import Course

from .classes import ASSIGNMENT, KINDS, ROOT, command, environment, our_course, stock_course, write
from .watched import first_result, peak_pss

SMALL = "05_histograms"  # one notebook is a submission where a thousand of them are graded


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument(
        "--students", type=int, default=30, help="submissions of the whole session (default 30)"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--growth", type=int, default=1000, help="submissions of one notebook (default 1000)")
    parser.add_argument("--notebook", action="append", help="a class in this notebook alone (default: in all)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.students, options.rounds, options.notebook)
        figures = bench.run(options.growth)
    print(json.dumps(figures))


class Bench:
    """One class in our course and in a stock one, graded in turn."""

    def __init__(self, folder: Path, students: int, rounds: int, chosen: list[str] | None = None) -> None:
        self.folder, self.rounds, self.chosen = folder, rounds, chosen
        self.course = our_course(folder / "ours", chosen)
        self.names = write(self.course, self.course.submitted, students)
        self.sample = self.names[: len(KINDS)]
        self.per_student = len(self.course.notebooks())
        self.notebooks = students * self.per_student
        self.cores = len(os.sched_getaffinity(0))
        say(f"{students} submissions of {self.per_student} notebooks, {self.cores} cores; "
            f"stock nbgrader grades {len(self.sample)} of them, one of each kind: {', '.join(k for k, _ in KINDS)}")  # fmt: skip

    def run(self, growth: int) -> dict[str, float]:
        """All figures; those of a notebook are medians over the rounds, in seconds."""
        stock = stock_course(self.folder / "stock", self.chosen)
        self._copy_sample(stock / "submitted")
        ours, again, floor, theirs = [], [], [], []
        for turn in range(self.rounds):
            ours.append(self._ours("--force") / self.notebooks)
            again.append(self._ours() / self.notebooks)
            floor.append(self._floor() / self.notebooks / self.cores)
            share = self.sample[turn :: self.rounds] or self.sample
            theirs.append(self._stock(stock, share) / len(share) / self.per_student)
            say(
                f"round {turn + 1}: ours {ours[-1]:.3f}, floor {floor[-1]:.3f}, stock {theirs[-1]:.2f} s a notebook"
            )
        road = self._stock_road()
        first = [first_result(self.course.root) for _ in range(self.rounds)]
        for name, values in (("ours", ours), ("floor", floor), ("stock", theirs), ("first result", first)):
            say(f"{name}: median {median(values):.3f} s, from {min(values):.3f} to {max(values):.3f}")
        return {
            "stock_s_per_notebook": round(median(theirs), 3),
            "ours_s_per_notebook": round(median(ours), 4),
            "speedup": round(median(theirs) / median(ours), 1),
            "floor_s_per_notebook": round(median(floor), 4),
            "over_floor": round(median(ours) / median(floor), 2),
            "regrade_fraction": round(median(again) / median(ours), 4),
            "growth_10_to_1000": round(self._growth(growth), 3),
            "peak_pss_mb": round(peak_pss(self.course.root)),
            "first_result_s": round(median(first), 2),
            "stock_road_speedup": round(median(theirs) / road, 1),
        }

    def _ours(self, *words: str) -> float:
        return timed(self.course.root, "autograder", "grade", "--no-feedback", *words)

    def _floor(self) -> float:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.floor", str(self.course.root)],
            cwd=ROOT, env=environment(), capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"the floor failed: {done.stderr[-2000:]}")
        return float(done.stdout.split()[-1])

    def _stock(self, root: Path, students: list[str]) -> float:
        """nbgrader's own command, told of these students alone; a kernel that dies is its own affair."""
        return sum(
            timed(
                root,
                "nbgrader",
                "autograde",
                ASSIGNMENT,
                "--force",
                f"--student={json.dumps(student)}",
                check=False,
            )
            for student in students
        )

    def _stock_road(self) -> float:
        """Seconds a notebook of `nbgrader autograde` in our course, with our judge and its warm forks."""
        course = our_course(self.folder / "road", self.chosen)
        self._copy_sample(course.submitted)
        shutil.copy(self.course.secret, course.secret)
        return timed(course.root, "nbgrader", "autograde", ASSIGNMENT) / len(self.sample) / self.per_student

    def _copy_sample(self, submitted: Path) -> None:
        for name in self.sample:
            shutil.copytree(self.course.submitted / name, submitted / name)

    def _growth(self, many: int) -> float:
        """Seconds a submission of many, over those of ten; what a command takes to start is left out."""
        course = our_course(self.folder / "growth", [SMALL])
        write(course, course.submitted, 10)
        few = median(_per_submission(course) for _ in range(5))
        write(course, course.submitted, many)
        lots = _per_submission(course)
        say(f"a submission of one notebook: {few:.4f} s among 10, {lots:.4f} s among {many}")
        return lots / few


def _per_submission(course: Course) -> float:
    marks = finished(course)
    return (marks[-1] - marks[0]) / (len(marks) - 1)


def finished(course: Course) -> list[float]:
    """When each student's line was printed."""
    words = [str(Path(sys.executable).parent / "autograder"), "grade", "--no-feedback", "--force"]
    times = []
    with subprocess.Popen(
        words, cwd=course.root, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            if " of " in line and line[:4].isdigit():
                times.append(time.perf_counter())
    return times


def timed(root: Path, *words: str, check: bool = True) -> float:
    """Wall seconds of a command."""
    begun = time.perf_counter()
    command(root, *words, check=check)
    return time.perf_counter() - begun


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
