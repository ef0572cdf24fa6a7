"""Our solutions, where a student may see them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Iterator

from ..exercises.base import Exercise
from .kept import Kept
from .session import home

# Solved notebooks in a folder beside the student's were handed out by the instructor: that is the wish
# to show them. In a clone of the course they lie two folders up, and an honest pass comes first.
HANDED_OUT = Path("solutions")
OF_THE_COURSE = Path("../../solutions/s19-debugging")


class Shown:
    """A solution's code."""

    def __init__(self, exercise: Exercise, code: str) -> None:
        self.exercise, self.code = exercise, code

    def __repr__(self) -> str:
        return f"# One solution of exercise {self.exercise.id}; yours may differ.\n{self.code}"

    def _repr_markdown_(self) -> str:
        return f"```python\n{self!r}\n```"


class Sentence:
    """One sentence instead of a solution."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def available(exercise: Exercise) -> bool:
    """Whether `offer` shows the solution, as things are."""
    return isinstance(offer(exercise), Shown)


def offer(exercise: Exercise) -> Shown | Sentence:
    """The solution, or why it is not shown; files are looked for below the notebook's folder."""
    name = f"{home(exercise).notebook}.ipynb"
    if (HANDED_OUT / name).is_file():
        return _read(exercise, HANDED_OUT / name)
    if Kept.here().states().get(exercise.id) != "passed":
        return Sentence(
            f"The solution of {exercise.id} is offered once every visible case of its check passes. "
            f'Until then hint("{exercise.id}") names the next thing to look at.'
        )
    if (OF_THE_COURSE / name).is_file():
        return _read(exercise, OF_THE_COURSE / name)
    return Sentence(
        "No solutions came with these notebooks. Once your instructor hands them out, "
        f"put the solved notebooks into a folder {HANDED_OUT}/ beside this one and run this again."
    )


def _read(exercise: Exercise, path: Path) -> Shown | Sentence:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n\n".join(_solution(cells, exercise))
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Sentence(f"{path} can't be read ({error}); ask your instructor for it again.")
    return Shown(exercise, code) if code else Sentence(f"{path} holds no solution of {exercise.id}.")


def _solution(cells: list[dict], exercise: Exercise) -> Iterator[str]:
    """The solution cells between the check before and the check of this exercise."""
    block: list[str] = []
    for cell in cells:
        role, source = cell["metadata"].get("nbgrader", {}), "".join(cell["source"])
        if role.get("solution"):
            block.append("\n".join(line for line in source.split("\n") if not _delimiter(line)))
        elif role.get("grade"):
            if source.startswith(f'check("{exercise.id}"'):
                yield from block
            block = []


def _delimiter(line: str) -> bool:
    return line.strip() in ("### BEGIN SOLUTION", "### END SOLUTION")
