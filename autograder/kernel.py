"""What a notebook calls for its exercises: `check(id, answer)` and `hint(id)`."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import pickle
import secrets
import traceback
import warnings
from typing import Any

import torch

from . import wire
from .live import AskError, Live, Proxy

GRADING = "AUTOGRADER_SANDBOX"  # set inside the sandbox, where verdicts are not reached


def check(exercise_id: str, answer: Any, hidden: bool = False) -> Any:
    """Put an answer to an exercise's cases and show, case by case, what was observed.

    exercise_id: as printed above the stub, such as "1.1".
    answer: what the stub defines, handed over by name.
    hidden: draw fresh cases as well; graded cells set it. Run outside our grader, the
        verdict is then reached in this kernel, and the report says so.
    Returns: a report that Jupyter shows; in plain text it is the points earned, a finite float.
    Errors: none for a wrong answer; UnknownExercise for an id that does not exist.
    """
    if os.environ.get(GRADING):
        return None  # the judge reaches the verdict, from outside
    from .exercises import find
    from .item import run_item
    from .lesson.told import told
    from .render import Report

    exercise = find(exercise_id)
    seed = secrets.randbits(62) if hidden else None
    with _state_kept():  # cases are drawn from seeds of their own, and a notebook goes on as if nothing had been
        item = run_item(exercise, LocalAnswer(answer), seed)
    return Report(item, headed=not told(exercise, answer, item))


_hints_shown: dict[str, int] = {}


def hint(exercise_id: str) -> Any:
    """Show the next of an exercise's three hints; after the third, all of them again."""
    if os.environ.get(GRADING):
        return None
    from .exercises import find
    from .render import Hints

    exercise = find(exercise_id)
    shown = min(_hints_shown.get(exercise.id, 0) + 1, len(exercise.hints))
    _hints_shown[exercise.id] = shown
    return Hints(exercise, shown)


class LocalAnswer:
    """An answer called in this process: on a student's machine, or in tests of the judge."""

    where = "this kernel"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def reply(self, exercise: Any, case: Any, seed: int) -> Any:
        """Call the answer on copies of the case's arguments; what comes back passes the wire."""
        from .item import Reply

        try:
            with _quiet(), _state_kept():  # the judge that follows stands on its own ground
                value = self._call(exercise, case, seed)
            return Reply(wire.decode(wire.encode(value)))
        except wire.TooLarge as error:
            return Reply(outcome="output too large", text=str(error))
        except NotImplementedError:
            return Reply(outcome="not attempted", text="the stub is as it came")
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return Reply(outcome="crashed", text=own_traceback(error))

    def _call(self, exercise: Any, case: Any, seed: int) -> Any:
        if exercise.kind == "value":
            return self.answer
        if exercise.kind == "function" and not callable(self.answer):
            raise TypeError(f"check wants the function itself, not {type(self.answer).__name__}")
        args = local_args(case.args)
        torch.manual_seed(seed)
        if exercise.kind == "probe":
            from . import probes

            return getattr(probes, exercise.probe)(self.answer, *args)
        return self.answer(*args)


def local_args(args: tuple) -> list:
    """Copies of a case's arguments, each live object behind a proxy of its own."""
    copies = pickle.loads(pickle.dumps([None if isinstance(a, Live) else a for a in args]))
    return [
        _local_proxy(copy.deepcopy(original)) if isinstance(original, Live) else copied
        for original, copied in zip(args, copies)
    ]


def _local_proxy(live: Live) -> Proxy:
    def ask(name: str, args: list, kwargs: dict) -> Any:
        plain = wire.decode(wire.encode([args, kwargs]))
        try:
            value = live.ask(name, *plain)
        except AskError as error:
            raise ValueError(str(error)) from None
        return wire.decode(wire.encode(value))

    return Proxy(live.asks, ask, live.constants)


def own_traceback(error: BaseException) -> str:
    """An exception's traceback without the lines of this package; bounded in length."""
    home = os.path.dirname(__file__)
    stack = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(home)]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(stack)] if stack else []
    lines += traceback.format_exception_only(error)
    text = "".join(lines).rstrip()
    return text if len(text) <= 4000 else text[:2000] + "\n[...]\n" + text[-2000:]


@contextlib.contextmanager
def _quiet() -> Any:
    """Keep what an answer prints, warns or writes to descriptor 2 away from the graded cell.

    Stock nbgrader scores a graded cell 0 for anything on stderr, right answer or not.
    """
    saved, sink = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 2)
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            with contextlib.redirect_stdout(io.StringIO()):
                yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(sink)


@contextlib.contextmanager
def _state_kept() -> Any:
    """Give back torch's global state as it was, whatever an answer did to it."""
    rng, dtype, grad = torch.get_rng_state(), torch.get_default_dtype(), torch.is_grad_enabled()
    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    try:
        yield
    finally:
        torch.set_rng_state(rng)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict)
