"""The exercises of the course, one module each; this package finds them."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from functools import cache

from .base import Exercise


class UnknownExercise(KeyError):
    """An exercise id that the course does not have; the text names the nearest one."""

    def __str__(self) -> str:
        return self.args[0]


@cache
def all_exercises() -> dict[str, Exercise]:
    """Every exercise by id, in the order of the ids. Modules offer EXERCISES, a tuple."""
    found: dict[str, Exercise] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("_") or module.name == "base":
            continue
        for exercise in importlib.import_module(f"{__name__}.{module.name}").EXERCISES:
            if exercise.id in found:
                raise ValueError(f"exercise {exercise.id} is defined twice ({module.name})")
            found[exercise.id] = exercise
    return dict(sorted(found.items(), key=lambda item: _order(item[0])))


def find(exercise_id: str) -> Exercise:
    """The exercise of that id. Errors: UnknownExercise, naming the nearest id."""
    exercises = all_exercises()
    if isinstance(exercise_id, str) and exercise_id in exercises:
        return exercises[exercise_id]
    near = difflib.get_close_matches(str(exercise_id), exercises, n=1, cutoff=0.0)
    raise UnknownExercise(
        f"there is no exercise {exercise_id!r} in this course; did you mean {near[0]!r}?"
        if near
        else f"there is no exercise {exercise_id!r} in this course"
    )


def _order(exercise_id: str) -> tuple:
    head, _, tail = exercise_id.partition(".")
    digits = "".join(ch for ch in tail if ch.isdigit())
    return (int(head), int(digits or 0), tail)
