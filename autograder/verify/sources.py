"""Where verify gets its code: texts, released stubs, and the answers kept in tests/answers/."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..build.course import Course
from ..build.delimiters import EXACT
from ..build.text import bound_names, check_id, grader, plain_code, read_text


@dataclass(frozen=True)
class Source:
    """An exercise's place in its text.

    setup: the setup cell. before: solution cells above the one that defines the answer.
    cell: that one. lines: of the cell that mutants may change, from 1. stub: as released.
    """

    file: str
    setup: str
    before: tuple[str, ...]
    cell: str
    lines: range
    stub: str


def find_sources(course: Course, answers: dict[str, str]) -> dict[str, Source]:
    """The source of each exercise that some text checks.

    answers: the name that each exercise asks for, by the exercise's id.
    Errors: FileNotFoundError for a text without released notebook; run the build first.
    """
    return {
        exercise_id: source
        for path in course.texts()
        for exercise_id, source in _of_text(course, path, answers).items()
    }


def _of_text(course: Course, path: Path, answers: dict[str, str]) -> dict[str, Source]:
    nb = read_text(path)
    released = nbformat.read(course.released / f"{path.stem}.ipynb", as_version=4)
    stubs = {cell.id: cell.source for cell in released.cells}
    setup = "\n".join(plain_code(c.source) for c in nb.cells if "setup" in c.metadata.get("tags", []))
    found: dict[str, Source] = {}
    seen: list[NotebookNode] = []
    for cell in nb.cells:
        if grader(cell).get("solution") is True:
            seen.append(cell)
        exercise_id = check_id(cell)
        defining = [c for c in seen if answers.get(exercise_id) in bound_names(c.source)]
        if exercise_id is None or not defining:
            continue
        own = defining[-1]
        if own.id not in stubs:
            where = f"cell {own.id!r} of {course.tell(course.released / path.stem)}.ipynb"
            raise FileNotFoundError(errno.ENOENT, "not built", where)
        before = tuple(plain_code(c.source) for c in seen if c is not own)
        stub = plain_code(stubs[own.id])
        found[exercise_id] = Source(course.tell(path), setup, before, plain_code(own.source), _region(own.source), stub)
    return found


def _region(source: str) -> range:
    """From the first to the last line between solution delimiters."""
    numbers = [n for n, line in enumerate(source.split("\n"), 1) if EXACT.get(line.strip(), ("", ""))[1] == "solution"]
    return range(numbers[0], numbers[-1] + 1)


@dataclass(frozen=True)
class Kept:
    """An answer kept in tests/answers/<id>/: its file's name, its code, and whether it is right."""

    name: str
    code: str
    right: bool


def kept_answers(folder: Path) -> list[Kept]:
    """right_*.py and wrong_*.py of one exercise, in order."""
    return [
        Kept(path.name, path.read_text(encoding="utf-8"), path.name.startswith("right_"))
        for path in sorted(folder.glob("*.py"))
        if path.name.startswith(("right_", "wrong_"))
    ]


def equivalents(folder: Path) -> dict[str, str]:
    """Mutants that change nothing that could be judged: name to reason, from equivalent.txt.

    Errors: ValueError for a line that is not `name: reason`.
    """
    path = folder / "equivalent.txt"
    found: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, gap, reason = line.partition(": ")
        if not gap or not reason.strip():
            raise ValueError(f"{path.name} of {folder.name}, line {number}: write `name: reason`, not {line!r}")
        found[name.strip()] = reason.strip()
    return found
