"""Is the grader right? Stubs fail, right answers pass, wrong answers and mutants fail.

For each exercise: the stub as released earns nothing; every right answer kept in
tests/answers/ earns full marks on several seeds and every wrong one less; and so does
every mutant of the reference solution that is not listed as equivalent.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator

from ..build.course import Course
from ..exercises import all_exercises, find
from ..exercises.base import Exercise
from .forks import Ended, run_forked
from .mutate import mutants
from .report import Report
from .sources import Kept, Source, equivalents, find_sources, kept_answers
from .trial import Outcome, defined, trial, warm_up

SEEDS = (190_001, 190_002, 190_003)
REFERENCE_SECONDS = 120.0
# At least so many seconds, and so many times the reference's own.
ANSWER_SECONDS = (20.0, 20.0)
MUTANT_SECONDS = (5.0, 8.0)

__all__ = ["main", "verify"]

Call = tuple[Any, Callable[[], Any], float]


def verify(
    root: Path, exercises: dict[str, Exercise], seeds: tuple[int, ...] = SEEDS, workers: int = 2, mutate: bool = True
) -> Report:
    """Verify exercises of the course at `root`; the report holds counts and what is off."""
    os.environ.setdefault("MPLBACKEND", "agg")
    warm_up()
    sources = find_sources(Course(root), {e.id: e.answer for e in exercises.values()})
    report = Report()
    for exercise in exercises.values():
        folder = root / "tests" / "answers" / exercise.id
        if exercise.id not in sources:
            report.off(exercise.id, "no text in solutions/ checks it")
            continue
        bench = _Bench(exercise, sources[exercise.id], seeds, workers, report)
        bench.answers(kept_answers(folder))
        if mutate:
            try:
                bench.mutants(equivalents(folder))
            except ValueError as error:
                report.off(exercise.id, str(error))
    return report


class _Bench:
    """One exercise under test. Everything of its author's or a student's runs in forks."""

    def __init__(
        self, exercise: Exercise, source: Source, seeds: tuple[int, ...], workers: int, report: Report
    ) -> None:
        self.exercise, self.source, self.report = exercise, source, report
        self.seeds, self.workers = seeds, workers
        self.space: dict[str, Any] = {}
        exec(compile(source.setup, f"{source.file} (setup)", "exec"), self.space)  # imports, before the forks
        self.seconds = REFERENCE_SECONDS
        report.exercises += 1

    def answers(self, kept: list[Kept]) -> None:
        """The stub, the reference, and the kept answers."""
        started = time.monotonic()
        # as a tree, the way mutants come: a reference that fails there would let all of them seem killed
        tree = ast.parse(self.source.cell)
        calls: list[Call] = [("reference", self._try(self._cell(tree)), REFERENCE_SECONDS)]
        for _, ended in run_forked(calls, 1):
            self._reference(ended)
        self.seconds = time.monotonic() - started
        limit = max(ANSWER_SECONDS[0], ANSWER_SECONDS[1] * self.seconds)
        calls = [("stub", self._try(self._cell(self.source.stub)), limit)]
        calls += [(one, self._try(self._file(one)), limit) for one in kept]
        if not any(one.right for one in kept) or all(one.right for one in kept):
            self.report.off(self.exercise.id, "tests/answers/ lacks right answers, wrong ones or both")
        for key, ended in run_forked(calls, self.workers):
            self._stub(ended) if key == "stub" else self._kept(key, ended)

    def mutants(self, equal: dict[str, str]) -> None:
        """Mutants of the reference; those listed as equivalent must indeed pass."""
        names: set[str] = set()
        limit = max(MUTANT_SECONDS[0], MUTANT_SECONDS[1] * self.seconds)

        def calls() -> Iterator[Call]:
            for mutant in mutants(self.source.cell, self.source.lines):
                names.add(mutant.name)
                yield mutant, self._try(self._cell(mutant.tree), early=True), limit

        for mutant, ended in run_forked(calls(), self.workers):
            self._mutant(mutant.name, mutant.text, ended, equal)
        for name in sorted(set(equal) - names):
            self.report.off(self.exercise.id, f"equivalent.txt lists {name!r}, which is no mutant of the reference")

    def _try(self, load: Callable[[], Any], early: bool = False) -> Callable[[], Outcome]:
        return lambda: trial(self.exercise, load, self.seeds, early)

    def _cell(self, code: str | ast.Module) -> Callable[[], Any]:
        """Load a cell as a notebook would: setup and the other solution cells first."""
        before = [(piece, self.source.file) for piece in self.source.before]
        return lambda: defined(self.exercise.answer, *before, (code, self.source.file), into=self.space)

    def _file(self, one: Kept) -> Callable[[], Any]:
        return lambda: defined(self.exercise.answer, (one.code, one.name))

    def _reference(self, ended: Ended) -> None:
        if not (ended.value and ended.value.full):
            self.report.off(self.exercise.id, f"the reference solution fails: {_say(ended)}")

    def _stub(self, ended: Ended) -> None:
        if ended.value and ended.value.highest == 0 and ended.value.outcome == "not attempted":
            self.report.stubs_failing += 1
        else:
            self.report.off(self.exercise.id, f"the stub should be 'not attempted': {_say(ended)}")

    def _kept(self, one: Kept, ended: Ended) -> None:
        if one.right:
            good = bool(ended.value and ended.value.full)
            self.report.right_total += 1
            self.report.right_accepted += good
        else:
            good = bool(ended.lost or ended.value.less)
            self.report.wrong_total += 1
            self.report.wrong_refused += good
        if not good:
            self.report.off(self.exercise.id, f"{one.name}: {_say(ended)}")

    def _mutant(self, name: str, text: str, ended: Ended, equal: dict[str, str]) -> None:
        survived = bool(ended.value and ended.value.full)
        if name in equal:
            if not survived:
                self.report.off(self.exercise.id, f"equivalent.txt lists {name!r}, but it fails: {_say(ended)}")
            return
        self.report.mutants_total += 1
        self.report.mutants_killed += not survived
        if survived:
            self.report.off(self.exercise.id, f"mutant survives: {name}", text)


def _say(ended: Ended) -> str:
    """A trial in a few words."""
    if ended.lost:
        return ended.lost
    outcome = ended.value
    scores = f"{outcome.lowest:.2f} to {outcome.highest:.2f}"
    return f"score {scores}, {outcome.outcome}" + (f" ({outcome.text})" if outcome.text else "")


def main(root: Path, ids: list[str] | None = None) -> int:
    """Verify exercises of the course at `root`, all without `ids`.

    Prints a table of what is off, then one line of JSON. Returns: 0 when nothing is off, else 1.
    Errors: UnknownExercise.
    """
    chosen = {name: find(name) for name in ids} if ids else all_exercises()
    try:
        report = verify(Path(root).resolve(), chosen)
    except FileNotFoundError as error:
        print(f"{error.filename} is missing; run: make build", file=sys.stderr)
        return 1
    print(report.table())
    print(json.dumps(report.counts()))
    return 0 if report.good() else 1
