"""Training runs with planted faults, and healthy ones, to be probed from outside."""

from __future__ import annotations

from typing import Any

from .. import wire
from ..live import AskError, Proxy
from .faults import Recipe
from .run import Run

__all__ = ["open_run"]

# what the lessons open; a run's letter says nothing about it
_LESSON = {
    "A": Recipe("frozen_body", 1),
}


def open_run(name: str) -> Proxy:
    """A lesson's run, "A" to "H", at its start, to be asked for observables and interventions.

    Errors: ValueError for another name; asking for what a run does not offer raises AttributeError.
    """
    if name not in _LESSON:
        raise ValueError(f"there is no run {name!r}; choose from {', '.join(_LESSON)}")
    live = Run(_LESSON[name])

    def ask(question: str, args: list, kwargs: dict) -> Any:
        plain = wire.decode(wire.encode([args, kwargs]))
        try:
            value = live.ask(question, *plain)
        except AskError as error:
            raise ValueError(str(error)) from None
        return wire.decode(wire.encode(value))

    return Proxy(live.asks, ask)
