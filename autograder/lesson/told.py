"""The line above a check's table: what passed, what remains, and whether it still holds."""

from __future__ import annotations

from html import escape
from typing import Any

from ..exercises.base import Exercise
from ..render import headline
from ..result import ItemResult
from . import published, stale
from .kept import Kept
from .session import following, home
from .session import told as in_words


class Line:
    """A headline with what to do next. In plain text it names the exercise alone."""

    def __init__(self, exercise: Exercise, head: str, then: str) -> None:
        self.exercise, self.head, self.then = exercise, head, then

    def __repr__(self) -> str:
        return f"{self.exercise.id} {self.exercise.title}"

    def _repr_html_(self) -> str:
        return (
            f'<div class="autograder-check" role="status"><p><strong>{escape(self.head)}</strong><br>'
            f"{escape(self.then)}</p></div>"
        )


def told(exercise: Exercise, answer: Any, item: ItemResult) -> bool:
    """Show the line in a notebook, note progress, and watch the answer from now on.

    Returns: whether there is a notebook to show it in.
    """
    shell = _shell()
    if shell is None:
        return False
    from IPython.display import display

    name = _name(exercise, answer, shell.user_ns)
    if name == exercise.answer and not item.hidden:
        _note(exercise, item)
    line = Line(exercise, headline(item), _then(exercise, item))
    handle = display(line, display_id=True)
    if name and handle:
        old = Line(
            exercise,
            f"Stale: {name}, or a function of yours that it calls, has changed since this check.",
            "The table below is about the earlier code. Run this cell again.",
        )
        stale.watch(
            f"{exercise.id} {name}", shell, name, lambda changed: handle.update(old if changed else line)
        )
    return True


def _shell() -> Any:
    """IPython's shell where this is a kernel; None in a plain Python."""
    try:
        from IPython import get_ipython
    except ModuleNotFoundError:
        return None
    shell = get_ipython()
    return shell if getattr(shell, "kernel", None) else None


def _name(exercise: Exercise, answer: Any, namespace: dict) -> str:
    """The name under which the notebook holds the answer; empty where it holds none."""
    names = (exercise.answer, getattr(answer, "__name__", ""))
    return next((name for name in names if name and namespace.get(name) is answer), "")


def _note(exercise: Exercise, item: ItemResult) -> None:
    from . import grading

    if not grading():
        if _passes(item):
            Kept.here().keep(exercise.id, "passed")
        elif item.outcome != "not attempted":
            Kept.here().keep(exercise.id, "begun")


def _passes(item: ItemResult) -> bool:
    return all(case.verdict.passed for case in item.cases)


def _then(exercise: Exercise, item: ItemResult) -> str:
    """What to do next."""
    if item.hidden:
        return ""
    if item.outcome == "not attempted":
        return f'Write the stub above and run it, then this check again. Stuck? hint("{exercise.id}")'
    if not _passes(item):
        return f'The table opens with what fails. Stuck? hint("{exercise.id}")'
    kept = Kept.here().folder is not None  # not in a build, whose outputs must be the same wherever it runs
    ours = f'solution("{exercise.id}") shows ours. ' if kept and published.available(exercise) else ""
    coming = following(
        {k for k, state in Kept.here().states().items() if state == "passed"} | {exercise.id}, exercise
    )
    if coming is None:
        return f"{ours}That was the last one."
    where = "" if home(coming) == home(exercise) else f", in {home(coming).number} {home(coming).title}"
    return f"{ours}Next: {in_words(coming)}{where}."
