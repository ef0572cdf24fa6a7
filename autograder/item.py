"""One item: an exercise's cases, put to an answer by a caller, added up to a score.

A caller is where a student's code runs: the kernel on the student's machine
(`kernel.LocalAnswer`), or a process in the sandbox while grading (`judge.RemoteAnswer`).
Both hand over a `Reply` with decoded plain data, so both reach the same verdict.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from typing import Any, Protocol

from .exercises.base import Exercise, wrong
from .result import Case, CaseResult, ItemResult, outcome_of


@dataclass(frozen=True)
class Reply:
    """How a call ended. `outcome` is "right" when a value came back, else one of OUTCOMES.

    value: decoded plain data. text: for an exception its own traceback, else one sentence.
    """

    value: Any = None
    outcome: str = "right"
    text: str = ""


class Answer(Protocol):
    """A student's answer as a caller offers it."""

    where: str

    def reply(self, exercise: Exercise, case: Case, seed: int) -> Reply: ...


def run_item(exercise: Exercise, answer: Answer, seed: int | None) -> ItemResult:
    """Put the public cases, and with a seed the hidden ones, to an answer; never raises.

    seed: of the hidden cases; None runs the public cases alone.
    """
    results = [
        _run_case(exercise, answer, case, index, hidden=False)
        for index, case in enumerate(exercise.public())
    ]
    if seed is not None:
        drawn = exercise.hidden(random.Random(seed))
        results += [
            _run_case(exercise, answer, case, _ground(seed, index), hidden=True)
            for index, case in enumerate(drawn)
        ]
    score = exercise.score([r for r in results if r.hidden] if seed is not None else results)
    score = min(score, _public_share(results, score))
    return ItemResult(
        id=exercise.id,
        title=exercise.title,
        points=exercise.points,
        cases=results,
        score=score,
        outcome=outcome_of(score, results),
        where=answer.where,
        hidden=seed is not None,
    )


def _ground(seed: int, index: int) -> int:
    """Seed of the ground of a hidden case: the answer can read it, and must not learn the seed of the cases."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{index}".encode()).digest()[:8], "big") >> 1


def _public_share(results: list[CaseResult], score: float) -> float:
    """Full marks need every public case too; otherwise the hidden cases alone decide."""
    if all(r.verdict.passed for r in results):
        return 1.0
    return min(score, 0.99) if score == 1 else score


def _run_case(exercise: Exercise, answer: Answer, case: Case, seed: int, hidden: bool) -> CaseResult:
    reply = answer.reply(exercise, case, seed)
    if reply.outcome != "right":
        verdict = wrong(
            reply.text,
            _WANTED.get(reply.outcome, "a value comes back"),
            _LOOK.get(reply.outcome, ""),
            group=_group(exercise, case),
        )
        return CaseResult(case.name, verdict, reply.outcome, hidden)
    try:
        verdict = exercise.judge(case, reply.value)
    except Exception as error:  # a judge that can't read an answer must not pass it, nor stop the class
        verdict = wrong(
            f"data that this exercise can't read ({type(error).__name__})",
            "the types and shapes that the docstring names",
            "compare what your function returns with its docstring",
            group=_group(exercise, case),
        )
    return CaseResult(case.name, verdict, "right" if verdict.passed else "wrong", hidden)


def _group(exercise: Exercise, case: Case) -> str:
    """The case's true class, for scoring, where no answer came back to be judged."""
    try:
        return exercise.judge(case, None).group
    except Exception:
        return ""


_WANTED = {
    "not attempted": "your own code in the stub",
    "crashed": "a call that returns",
    "timed out": "an answer within the time limit",
    "out of memory": "an answer within the memory limit",
    "output too large": "an answer of a reasonable size",
}
_LOOK = {
    "not attempted": "write the stub, run its cell, then run this check again",
    "crashed": "read the last line of the traceback first, then the line of yours above it",
    "timed out": "is there a loop whose end condition never comes true?",
    "out of memory": "is something kept or grown in a loop?",
    "output too large": "return what the docstring asks for and nothing else",
}
