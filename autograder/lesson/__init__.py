"""What a student has beside the marks: the map of the session, progress, solutions, controls for figures.

Nothing here reaches a verdict, and nothing of it is sent anywhere.
"""

from __future__ import annotations

import os
from typing import Any

GRADING = (
    "AUTOGRADER_SANDBOX",
    "NBGRADER_EXECUTION",
)  # ours, and nbgrader's own while it grades or validates


def grading() -> bool:
    """Whether this process grades: then nothing is shown that only a student needs, and nothing is kept."""
    return any(os.environ.get(name) for name in GRADING)


def progress() -> Any:
    """The map of the session: what is done, what is next. `progress.forget()` removes what is kept.

    Returns: a table for Jupyter, lines for a terminal; None while grading.
    """
    if grading():
        return None
    from .kept import Kept
    from .session import Map

    return Map(Kept.here())


def _forget() -> None:
    """Remove what is kept of the progress through the course, and say so."""
    from .kept import Kept

    print(Kept.here().forget())


progress.forget = _forget


def solution(exercise_id: str) -> Any:
    """Show our solution of an exercise, once its visible check passed in full or where it was handed out.

    Returns: code for Jupyter and a terminal, or one sentence that says why there is none yet.
    Errors: UnknownExercise for an id that does not exist.
    """
    if grading():
        return None
    from ..exercises import find
    from .published import offer

    return offer(find(exercise_id))


def explore(function: Any, labels: dict[str, str] | None = None, **controls: Any) -> None:
    """Offer a control for each argument of a plotting function; each move draws the figure again.

    controls: by argument a list of choices, or (low, high, step) for a slider; it begins at the
        argument's default. labels: what stands beside a control, where the argument's name is not enough.
    Where ipywidgets is missing, one sentence says so.
    """
    if grading():
        return
    from .controls import show

    show(function, labels or {}, controls)
