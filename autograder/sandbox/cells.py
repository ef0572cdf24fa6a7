"""Student cells and calls, inside the sandbox: IPython's shell without a kernel."""

from __future__ import annotations

import builtins
import pickle
import random
import sys
from functools import cache
from typing import Any, Callable
from warnings import catch_warnings, simplefilter

import numpy
import torch

from .. import wire
from ..kernel import own_traceback
from ..live import Proxy

# nothing that a browser would execute, each up to a size that a page can hold
MIME = {"text/plain": 100_000, "image/png": 2_000_000, "image/jpeg": 2_000_000}
MAX_DISPLAYS = 50
TOO_LARGE = {"text/plain": "[left out: too large to show]"}

_failures: list = []


@cache
def shell() -> Any:
    """The one IPython shell of this process, with history off and nothing on disk."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Result(DisplayHook):
        """Keeps the value of a cell's last expression instead of printing it."""

        shown = None

        def __call__(self, result: Any = None) -> None:
            if result is not None and not self.quiet():
                self.shown = _bundle(self.shell.display_formatter.format(result)[0])

    class Shell(InteractiveShell):
        """IPython's shell without a terminal or a kernel."""

        def enable_gui(self, gui: str | None = None) -> None:
            """There is no event loop to enable."""

        def _showtraceback(self, etype: type, evalue: BaseException, stb: list) -> None:
            _failures.append((etype, evalue, stb))

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.autoawait = False
    builtins.input = _no_input
    return Shell.instance(config=config, displayhook_class=Result, display_pub_class=CapturingDisplayPublisher)


def _bundle(data: dict) -> dict:
    shown = {mime: data[mime] for mime in MIME if type(data.get(mime)) is str}
    return shown if all(len(text) <= MIME[mime] for mime, text in shown.items()) else TOO_LARGE


def _said(error: BaseException) -> str:
    try:
        return str(error)[:2000]
    except BaseException:  # a class of the student's whose __str__ fails must not end the process
        return ""


def run(source: str) -> dict:
    """Run a cell. Returns {"error": None or {ename, evalue, traceback}, "displays", "result"}."""
    here = shell()
    here.display_pub.outputs.clear()
    here.displayhook.shown = None
    _failures.clear()
    here.run_cell(source, store_history=False)
    sys.stdout.flush()
    sys.stderr.flush()
    error = None
    if _failures:
        kind, value, lines = _failures[-1]
        traceback = [str(line)[:4000] for line in lines[:40]]
        error = {"ename": getattr(kind, "__name__", "Error"), "evalue": _said(value), "traceback": traceback}
    displays = [_bundle(output.get("data", {})) for output in here.display_pub.outputs[:MAX_DISPLAYS]]
    return {"error": error, "displays": displays, "result": here.displayhook.shown}


def call(
    ask: Callable, name: str, kind: str, probe: str, payload: bytes, live: dict[int, tuple[tuple, tuple]], seed: int
) -> dict:
    """Call `name` with the pickled arguments.

    Returns: {"value"}, with "changed" where it changed its arguments, or {"outcome", "text"}.
    """
    namespace = shell().user_ns
    if name not in namespace:
        return {"outcome": "not attempted", "text": f"{name} is not defined when this check runs"}
    answer = namespace[name]
    try:
        if kind == "value":
            return {"value": answer}
        if kind == "function" and not callable(answer):
            raise TypeError(f"check wants the function itself, not {type(answer).__name__}")
        args = pickle.loads(payload)
        for index, (names, constants) in live.items():
            args[index] = _proxy(ask, index, names, constants)
        _clean_ground(seed)
        if kind == "probe":
            from .. import probes

            return {"value": getattr(probes, probe)(answer, *args)}
        given = _plain(args)
        with catch_warnings():  # a correct answer that warns is correct, whatever the cells made of warnings
            simplefilter("ignore")
            value = answer(*args)
        return {"value": value} if _plain(args) == given else {"value": value, "changed": True}
    except NotImplementedError:
        return {"outcome": "not attempted", "text": "the stub is as it came"}
    except BaseException as error:
        outcome = "out of memory" if _is_memory(error) else "crashed"
        return {"outcome": outcome, "text": own_traceback(error)}
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def _proxy(ask: Callable, index: int, names: tuple, constants: tuple) -> Proxy:
    return Proxy(names, lambda name, args, kwargs: ask(index, name, args, kwargs), constants)


def _plain(args: list) -> bytes:
    """The data among the arguments; models and live runs count by their type alone, they are there to change."""
    try:
        return wire.encode(args)
    except wire.TooLarge:
        return b""


def _clean_ground(seed: int) -> None:
    """The state that a call may count on, whatever an earlier one left behind."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.use_deterministic_algorithms(False)
    torch.autograd.set_detect_anomaly(False)


def _is_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or "can't allocate memory" in str(error)[:500]


def _no_input(prompt: object = "") -> str:
    """Nobody sits at the keyboard while grading: an empty line, as if return was pressed."""
    print(prompt)
    return ""
