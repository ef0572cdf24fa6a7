"""From a text, solutions/NN_name.py, to a notebook with fixed ids, points and exercise heads."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Callable, Iterator

import jupytext
from nbformat import NotebookNode

from ..exercises.base import Exercise
from ..lesson import session

Find = Callable[[str], Exercise]
PLACEHOLDER = re.compile(r"\{\{exercise ([^{}\s]+)\}\}")
SESSION = "{{session}}"  # the map of the session as a table
CAPTION = re.compile(r"\A\*([^*\s].*?)\*(?:\n\n|\Z)", re.DOTALL)
LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
}


def read_text(path: Path) -> NotebookNode:
    """The notebook of a jupytext percent text as its author wrote it.

    Only what layout alone brings in is dropped; misspelt metadata stays for the gates to find.
    Errors: ValueError where jupytext can't read the text.
    """
    nb = jupytext.read(path, fmt="py:percent")
    nb.metadata = NotebookNode(kernelspec=nb.metadata.get("kernelspec", {}), language_info=NotebookNode(LANGUAGE))
    for cell in nb.cells:
        cell.metadata.pop("lines_to_next_cell", None)
        cell.metadata.pop("lines_to_end_of_cell_marker", None)
        cell.source = cell.source.strip("\n")
    _name_cells(nb, path.stem.partition("_")[0], _header_lines(path))
    return nb


def _name_cells(nb: NotebookNode, number: str, headers: list[int]) -> None:
    """Give each cell its id: the grade id where it has one, else number and position."""
    told = len(headers) == len(nb.cells)
    for position, cell in enumerate(nb.cells, 1):
        grade_id = grader(cell).get("grade_id")
        cell.id = cell_id(grade_id) if isinstance(grade_id, str) and grade_id else f"{number}-{position:03d}"
        name = f"cell {grade_id!r}" if grade_id else f"cell {position}"
        cell.where = f"{name} (line {headers[position - 1]})" if told else name


def _header_lines(path: Path) -> list[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if re.match(r"# %%(\s|$)", line)]


def cell_id(grade_id: str) -> str:
    """A grade id as nbgrader and nbformat take it: letters, digits, - and _, 64 at most."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", grade_id)[:64]


def grader(cell: NotebookNode) -> dict:
    """A cell's nbgrader metadata, empty where there is none or it is no table."""
    found = cell.metadata.get("nbgrader", {})
    return found if isinstance(found, dict) else {}


def placeholders(cell: NotebookNode) -> list[str]:
    """Ids of the exercises whose heads belong in a markdown cell."""
    return PLACEHOLDER.findall(cell.source) if cell.cell_type == "markdown" else []


def check_id(cell: NotebookNode) -> str | None:
    """The exercise that a graded cell checks; None for any other cell, or one that can't be read."""
    if cell.cell_type != "code" or not grader(cell).get("grade"):
        return None
    try:
        call = ast.parse(cell.source).body[0].value
        return call.args[0].value if call.func.id == "check" else None
    except (SyntaxError, IndexError, AttributeError):
        return None


def plain_code(source: str) -> str:
    """A code cell's Python, with magics and shell lines blanked out, line numbers kept."""
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n"))


def bound_names(source: str) -> set[str]:
    """Names that a cell defines at its top level. Errors: SyntaxError."""
    return {name for node in ast.parse(plain_code(source)).body for name in _bound(node)}


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    for target in getattr(node, "targets", [getattr(node, "target", None)]):
        yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name)) if target else ()


def fill(nb: NotebookNode, find: Find) -> NotebookNode:
    """Put in what only the exercises know: points of graded cells, the exercises' heads, the map of the session.

    A grade id becomes the cell's id, so `check-1.1` is `check-1-1` in notebooks and gradebook. A caption
    becomes the alternative text of the figures above it.
    """
    for cell in nb.cells:
        cell.pop("where", None)
        if grader(cell):
            cell.metadata.nbgrader["grade_id"] = cell.id  # nbgrader allows no dots either
        exercise_id = check_id(cell)
        if exercise_id is not None:
            cell.metadata.nbgrader["points"] = whole(find(exercise_id).points)
        if placeholders(cell):
            cell.source = PLACEHOLDER.sub(lambda match: head(find(match[1])), cell.source)
        if cell.cell_type == "markdown" and SESSION in cell.source:
            cell.source = cell.source.replace(SESSION, session.table())
    for cell, below in zip(nb.cells, nb.cells[1:]):
        if cell.cell_type == "code" and caption(below):
            cell.metadata["alt"] = caption(below)  # some pages of nbconvert read it; Lab has no such thing
    return nb


def caption(cell: NotebookNode) -> str:
    """The caption with which a markdown cell opens, a paragraph in italics, on one line; else an empty string."""
    found = CAPTION.match(cell.source) if cell.cell_type == "markdown" else None
    return " ".join(found[1].split()) if found else ""


def head(exercise: Exercise) -> str:
    """Heading of an exercise with its points, minutes and level, and how to ask for a hint."""
    points = whole(exercise.points)
    return (
        f"### Exercise {exercise.id}: {exercise.title}\n\n"
        f"*{points} {'point' if points == 1 else 'points'} · about {exercise.minutes} minutes · "
        f"{exercise.level}*. Stuck? Run `hint(\"{exercise.id}\")` in a new cell: "
        f"each call names one more thing to look at, {_number(len(exercise.hints))} in all.\n"
    )


def whole(points: float) -> int | float:
    """Points as people write them: 3, not 3.0."""
    return int(points) if points == int(points) else points


def _number(count: int) -> str:
    return {1: "one", 2: "two", 3: "three"}.get(count, str(count))
