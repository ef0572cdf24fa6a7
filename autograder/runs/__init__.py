"""Training runs with planted faults, and healthy ones, to be probed from outside."""

from __future__ import annotations

from typing import Any

from .. import wire
from ..live import AskError, Proxy
from .faults import Recipe
from .run import Run

__all__ = ["open_run"]

# what the lesson opens: five faults, two healthy runs, and one left to the reader
_LESSON = {
    "A": Recipe("nan_in_later_batch", 12),
    "B": Recipe("layers_in_python_list", 8),
    "C": Recipe("one_steep_direction", 6),
    "D": Recipe("never_cleared", 12),
    "E": Recipe("shuffled_apart", 13),
    "F": Recipe("frozen_body", 24),
    "G": Recipe("gradients_gathered", 9),
    "H": Recipe("group_never_appended", 4),
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

    return Proxy(live.asks, ask, live.constants)
