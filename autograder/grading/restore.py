"""Bring a submitted notebook back to the shape of its source before anything runs.

The student owns the code in solution cells and any cell of their own. All else comes from
the source: graded and locked cells with their text, type, metadata and points; cells that
were deleted come back, copies go. What was restored is said, by grade id.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ..text import writable

_DEFINITION = re.compile(r"^(?:async +)?(?:def|class) +(\w+)|^(\w+) *(?::[^=\n]+)?=(?!=)", re.MULTILINE)
MISSING = "# this cell was missing from the submission"


@dataclass
class Restored:
    """A notebook fit for grading. notes: what was restored, by grade id.

    lessons: positions of lesson cells that are as they came, which grading may leave out.
    shown: text of each graded cell as students know it, without the hidden check.
    """

    notebook: NotebookNode
    notes: dict[str, str] = field(default_factory=dict)
    lessons: set[int] = field(default_factory=set)
    shown: dict[str, str] = field(default_factory=dict)


def grade_id(cell: NotebookNode) -> str | None:
    """A cell's nbgrader id, whatever a student made of the metadata."""
    meta = cell.get("metadata", {}).get("nbgrader")
    value = meta.get("grade_id") if isinstance(meta, dict) else None
    return value if isinstance(value, str) else None


def is_check(cell: NotebookNode) -> bool:
    """Whether a restored cell is graded."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade"))


def restore(submitted: NotebookNode, source: NotebookNode, release: NotebookNode) -> Restored:
    """Merge a submission into its source. Never raises for what a student did to a valid notebook."""
    return _Merge(submitted, source, release).result()


class _Merge:
    def __init__(self, submitted: NotebookNode, source: NotebookNode, release: NotebookNode) -> None:
        self.source = {grade_id(c): c for c in source.cells if grade_id(c)}
        self.released = {grade_id(c): c for c in release.cells if grade_id(c)}
        self.lesson_texts = {(c.cell_type, c.source) for c in release.cells if not grade_id(c)}
        self.metadata = source.metadata
        self.submitted = [
            NotebookNode(c, source=writable(c["source"])) for c in submitted.cells if isinstance(c.get("source"), str)
        ]
        self.notes: dict[str, str] = {}
        self.cells: list[NotebookNode] = []
        self.places: dict[str, int] = {}

    def result(self) -> Restored:
        claimed = self._claims()
        for index, cell in enumerate(self.submitted):
            gid = claimed.get(index)
            if gid is not None:
                self._place(gid, cell)
            elif not self._is_copy(cell):
                self.cells.append(_plain(cell, cell.get("cell_type"), self._is_lesson(cell)))
        self._add_missing()
        for number, cell in enumerate(self.cells):
            cell["id"] = f"cell-{number}"
        notebook = new_notebook(cells=self.cells, metadata=copy.deepcopy(self.metadata))
        lessons = {
            n
            for n, c in enumerate(notebook.cells)
            if c.cell_type == "code" and not grade_id(c) and self._is_lesson(c)
        }
        shown = {gid: cell.source for gid, cell in self.released.items()}
        return Restored(notebook, self.notes, lessons, shown)

    def _is_lesson(self, cell: NotebookNode) -> bool:
        return (cell.get("cell_type"), cell.source) in self.lesson_texts

    def _claims(self) -> dict[int, str]:
        """Which submitted cell stands for which source cell: by id, then by text, then by the name defined."""
        claimed: dict[int, str] = {}
        free = dict(self.source)
        for matches in (self._same_id, self._same_text, self._same_definition):
            for index, cell in enumerate(self.submitted):
                gid = matches(cell, free) if index not in claimed else None
                if gid:
                    claimed[index] = gid
                    del free[gid]
                    if matches != self._same_id:
                        self.notes[gid] = "the cell's grading id was changed or lost, and was restored"
        return claimed

    def _same_id(self, cell: NotebookNode, free: dict) -> str | None:
        gid = grade_id(cell)
        return gid if gid in free else None

    def _same_text(self, cell: NotebookNode, free: dict) -> str | None:
        return next((g for g in free if self._text(g).strip() == cell.source.strip()), None)

    def _same_definition(self, cell: NotebookNode, free: dict) -> str | None:
        names = defined(cell.source) if cell.cell_type == "code" else set()
        return next((g for g, c in free.items() if _is_solution(c) and names & defined(c.source)), None)

    def _is_copy(self, cell: NotebookNode) -> bool:
        """A second graded or locked cell adds nothing; a second solution is the student's own code."""
        gid = grade_id(cell)
        if gid in self.source and not _is_solution(self.source[gid]):
            self.notes.setdefault(gid, "a copy of this cell was ignored")
            return True
        return False

    def _place(self, gid: str, cell: NotebookNode) -> None:
        original = self.source[gid]
        made = copy.deepcopy(original)
        if made.cell_type == "code":
            made.outputs, made.execution_count = [], None
        if _is_solution(original):
            written = made.cell_type == "markdown" and cell.source != self._text(gid)
            made.source = literal(cell.source) if written else cell.source
        elif cell.source != self._text(gid):
            self.notes[gid] = "the cell's text was changed, and was restored"
        known = self.released.get(gid, original)
        if cell.cell_type != known.cell_type or _flags(cell) != _flags(known):
            self.notes.setdefault(gid, "the cell's type or grading flags were changed, and were restored")
        if gid in self.released:
            made.metadata.nbgrader["checksum"] = self.released[gid].metadata.nbgrader.get("checksum")
        self.places[gid] = len(self.cells)
        self.cells.append(made)

    def _add_missing(self) -> None:
        before = None
        for gid, original in self.source.items():
            if gid not in self.places:
                at = self.places[before] + 1 if before else 0
                self.places = {g: p + (p >= at) for g, p in self.places.items()}
                kept, self.cells = self.cells[at:], self.cells[:at]
                stub = NotebookNode(original)
                if _is_solution(original):
                    stub = new_code_cell(MISSING, metadata=copy.deepcopy(original.metadata))
                    self._place(gid, stub)
                else:
                    self._place(gid, NotebookNode(original, source=self._text(gid)))
                self.cells += kept
                self.notes[gid] = "the cell was deleted, and was restored"
            before = gid

    def _text(self, gid: str) -> str:
        return self.released[gid].source if gid in self.released else self.source[gid].source


def _is_solution(cell: NotebookNode) -> bool:
    return bool(cell.metadata.nbgrader.get("solution"))


def _flags(cell: NotebookNode) -> tuple:
    meta = cell.metadata.get("nbgrader")
    meta = meta if isinstance(meta, dict) else {}
    return tuple(meta.get(k) for k in ("grade", "solution", "locked", "task", "points"))


def _plain(cell: NotebookNode, kind: str, lesson: bool) -> NotebookNode:
    """A cell that the source does not own: text and type, and no metadata that a tool would obey."""
    metadata = {"autograder": {"lesson": True}} if lesson else {}
    if kind == "code":
        return new_code_cell(cell.source, metadata=metadata)
    text = cell.source if lesson and kind == "markdown" else literal(cell.source)
    return new_markdown_cell(text, metadata=metadata)


def literal(text: str) -> str:
    """Markdown that shows a text as it was typed.

    Markdown may hold any HTML, and formgrader renders it in the instructor's browser, with the
    instructor's rights: a student's own text is shown, and nothing in it works.
    """
    already = re.fullmatch(r"(~{3,})text\n(.*)\n\1", text, re.DOTALL)
    if already and already[1] not in already[2]:
        return text
    fence = "~" * (3 + max((len(run) for run in re.findall("~+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def defined(source: str) -> set[str]:
    """Names that a text seems to define at its top level; Python's own parser can be crashed by a text."""
    return {name for pair in _DEFINITION.findall(source) for name in pair if name}
