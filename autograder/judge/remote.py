"""A student's answer in another process: calls go down, plain data comes back."""

from __future__ import annotations

import copy
import pickle
from typing import Any, Callable

from ..exercises.base import Exercise
from ..item import Reply
from ..live import AskError, Live
from ..result import Case
from ..sandbox import Process, ProcessLost
from ..wire import Foreign, NumpyScalar

MAX_LOST = 2  # an answer that kills its process twice has no further case to show


class RemoteAnswer:
    """Asks `name` in a fork of a student's process, so that a crash or a leftover costs this item alone.

    fork: makes a fresh fork of the student's process. Errors: none; every ending is a Reply.
    """

    def __init__(self, name: str, fork: Callable[[], Process], where: str) -> None:
        self.name, self.fork, self.where = name, fork, where
        self.process: Process | None = None
        self.lost: list[Reply] = []
        self.missing_names = False
        self.changed_inputs = False

    def reply(self, exercise: Exercise, case: Case, seed: int) -> Reply:
        """Put one case to the answer; see `item.Answer`."""
        if len(self.lost) >= MAX_LOST:
            return self.lost[-1]
        args, live = _split(case.args)
        try:
            if self.process is None:
                self.process = self.fork()
            raw = self.process.call(
                exercise.seconds,
                lambda ask: _answer(live, ask),
                name=self.name,
                kind=exercise.kind,
                probe=exercise.probe,
                payload=pickle.dumps(args),
                live={index: (item.asks, item.constants) for index, item in live.items()},
                seed=seed,
            )
        except ProcessLost as lost:
            self.process = None
            self.lost.append(Reply(outcome=lost.outcome, text=lost.text))
            return self.lost[-1]
        return self._read(raw)

    def close(self) -> None:
        """End the fork, with all that it started."""
        if self.process is not None:
            self.process.kill()
            self.process = None

    def _read(self, raw: Any) -> Reply:
        if type(raw) is dict and "value" in raw and set(raw) <= {"value", "changed"}:
            self.changed_inputs |= "changed" in raw
            return Reply(raw["value"])
        if type(raw) is dict and set(raw) == {"outcome", "text"}:
            outcome, text = raw["outcome"], raw["text"]
            # only endings that a call may report of itself, and no mark depends on them
            if outcome in ("not attempted", "crashed", "out of memory", "output too large") and type(text) is str:
                last = text.rstrip().rsplit("\n", 1)[-1]
                self.missing_names |= last.startswith("NameError") or "is not defined" in last
                return Reply(outcome=outcome, text=text[:6000])
        return Reply(outcome="crashed", text="the process sent something that is not an answer")


def _split(args: tuple) -> tuple[list, dict[int, Live]]:
    """Arguments to pickle, and fresh copies of the live objects that stay here, by position."""
    live = {i: copy.deepcopy(a) for i, a in enumerate(args) if isinstance(a, Live)}
    return [None if i in live else a for i, a in enumerate(args)], live


def _answer(live: dict[int, Live], ask: Any) -> dict:
    """Answer one question to a live object; what asks is not trusted."""
    if not (type(ask) is list and len(ask) == 4 and type(ask[0]) is int and ask[0] in live and type(ask[1]) is str):
        return {"refused": "not a question"}
    index, name, args, kwargs = ask
    if not (type(args) is list and type(kwargs) is dict and all(type(k) is str for k in kwargs)):
        return {"refused": "not a question"}
    if any(isinstance(v, (Foreign, NumpyScalar)) for v in [*args, *kwargs.values()]):
        return {"refused": f"{name}: plain numbers, strings, lists and tensors are wanted"}
    try:
        return {"value": live[index].ask(name, args, kwargs)}
    except AskError as error:
        return {"refused": str(error)}
    except Exception as error:  # a question that the run can't digest must not stop the class
        return {"refused": f"{name}: {type(error).__name__}"}
