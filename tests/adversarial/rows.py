"""What a row is: a submission made by code, and the outcome that each item must have."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from .course import ANSWERS, ASSIGNMENT, FAULT, FLOOR, IDS, NOTEBOOK, SCALE, STUBS

RIGHT, WRONG, NONE, LOST = "right", "wrong", "not attempted", "crashed"
LATE, FULL, LARGE = "timed out", "out of memory", "output too large"


@dataclass
class Draft:
    """A submission being written. files: bytes by name, beside or in place of the notebook."""

    notebook: NotebookNode
    files: dict[str, bytes] = field(default_factory=dict)
    name: str = f"{NOTEBOOK}.ipynb"
    where: dict[str, str] = field(default_factory=dict)
    last: list[Callable[[Path], None]] = field(default_factory=list)

    def cell(self, gid: str) -> NotebookNode:
        return next(c for c in self.notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == gid)

    def solution(self, exercise_id: str) -> NotebookNode:
        return next(c for c in self.notebook.cells if c.source.find(STUBS[exercise_id]) >= 0)

    def check(self, exercise_id: str) -> NotebookNode:
        return self.cell(f"check-{exercise_id.replace('.', '-')}")

    def solve(self, exercise_id: str, source: str) -> None:
        self.cell(_ANSWER[exercise_id]).source = source

    def code(self, source: str, at: int = 2) -> None:
        self.notebook.cells.insert(at, new_code_cell(source))

    def text(self, source: str) -> None:
        self.notebook.cells.insert(2, new_markdown_cell(source))

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        if self.name:
            # not by nbformat, which would refuse or mend what the row is about
            (folder / self.name).write_bytes(json.dumps(self.notebook).encode())
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        for step in self.last:
            step(folder)


_ANSWER = {FLOOR: "loss_floor", SCALE: "scale", FAULT: "find_fault"}


@dataclass(frozen=True)
class Row:
    """want: outcome by exercise id. said: words that the notes must hold. stock: graded by stock nbgrader too."""

    group: str
    title: str
    change: Callable[[Draft], Any]
    want: dict[str, str]
    said: str = ""
    stock: bool = False
    student: str = ""
    before: Callable[[Draft], Any] | None = None

    def draft(self, release: Path, change: Callable | None = None, **where: str) -> Draft:
        draft = Draft(nbformat.read(release, as_version=4), where=where)
        if self.group == "awkward":
            for exercise_id, source in ANSWERS.items():
                draft.solve(exercise_id, source)
        (change or self.change)(draft)
        return draft


class Rows(list):
    """Collects rows; used as a decorator of what changes a submission."""

    def __init__(self, group: str, default: str) -> None:
        super().__init__()
        self.group, self.default = group, default

    def __call__(
        self, title: str, said: str = "", stock: bool = False, student: str = "", before: Callable | None = None,
        floor: str = "", scale: str = "", fault: str = "", every: str = "",
    ) -> Callable:  # fmt: skip
        outcomes = dict(zip(IDS, (floor, scale, fault)))
        want = {i: outcomes[i] or every or self.default for i in IDS}
        student = student or f"{self.group[0]}{len(self):02d}"

        def add(change: Callable[[Draft], Any]) -> Callable[[Draft], Any]:
            self.append(Row(self.group, title, change, want, said, stock, student, before))
            return change

        return add

    def scale(self, title: str, source: str, outcome: str, stock: bool = False, said: str = "") -> None:
        """A row that differs by its answer to SCALE alone."""
        self(title, scale=outcome, stock=stock, said=said)(lambda d: d.solve(SCALE, source))

    def floor(self, title: str, source: str, outcome: str, stock: bool = False) -> None:
        """A row that differs by its answer to FLOOR alone."""
        self(title, floor=outcome, stock=stock)(lambda d: d.solve(FLOOR, source))

    def cell(self, title: str, source: str, stock: bool = False, **outcomes: str) -> None:
        """A row with one more code cell at its beginning."""
        self(title, stock=stock, **outcomes)(lambda d: d.code(source))


__all__ = ["ASSIGNMENT", "Draft", "Row", "Rows", "copy"]
