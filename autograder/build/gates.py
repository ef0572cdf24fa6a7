"""Gates on a text, before anything is executed. Each yields Problems and changes nothing."""

from __future__ import annotations

import difflib
import re
from typing import Iterator

from nbformat import NotebookNode

from . import delimiters, exercise_gates
from .course import Problem
from .text import Find, grader

CELL_KEYS = {"tags", "nbgrader"}
GRADER_KEYS = {"grade_id", "grade", "solution", "locked", "task", "schema_version"}
GRADE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")


def text_problems(nb: NotebookNode, file: str, find: Find) -> list[Problem]:
    """Everything that the gates refuse in one text, read by `text.read_text`."""
    found: list[tuple[NotebookNode | None, str]] = []
    for cell in nb.cells:
        for gate in (_metadata, _delimiters, _blocks, _placeholder_form):
            found += [(cell, text) for text in gate(cell)]
        form = exercise_gates.graded if _is(cell, "grade") else exercise_gates.ungraded
        found += [(cell, text) for text in form(cell)]
    found += [*_ids(nb), *_setup(nb), *exercise_gates.exercises(nb, find)]
    return [Problem(file, cell.where if cell is not None else "", text) for cell, text in found]


def _is(cell: NotebookNode, role: str) -> bool:
    return grader(cell).get(role) is True


def _metadata(cell: NotebookNode) -> Iterator[str]:
    """Headers that can't be read, misspelt keys, and nbgrader tables that lack a part."""
    if "incorrectly_encoded_metadata" in cell.metadata:
        yield f"its header can't be read: {cell.metadata['incorrectly_encoded_metadata']!r}"
        return
    for key in sorted(set(cell.metadata) - CELL_KEYS):
        near = difflib.get_close_matches(key, CELL_KEYS, n=1, cutoff=0.6)
        yield f"unknown word {key!r} in its header" + (f"; did you mean {near[0]!r}?" if near else "")
    if "nbgrader" not in cell.metadata:
        return
    table = cell.metadata["nbgrader"]
    if not isinstance(table, dict):
        yield "nbgrader= must hold a table {...}"
        return
    if "points" in table:
        yield "points are kept by the exercise; leave them out here"
    for key in sorted(set(table) - GRADER_KEYS - {"points"}):
        yield f"unknown nbgrader key {key!r}"
    for key in sorted(GRADER_KEYS - set(table)):
        yield f"nbgrader metadata without {key!r}"
    yield from _metadata_values(cell, table)


def _metadata_values(cell: NotebookNode, table: dict) -> Iterator[str]:
    if "schema_version" in table and table["schema_version"] != 3:
        yield f"schema_version must be 3, not {table['schema_version']!r}"
    if "grade_id" in table and not (
        isinstance(table["grade_id"], str) and GRADE_ID.fullmatch(table["grade_id"])
    ):
        yield f"grade_id {table['grade_id']!r} must be letters, digits, dots, - and _, and not empty"
    for key in ("grade", "solution", "locked", "task"):
        if key in table and not isinstance(table[key], bool):
            yield f"nbgrader {key!r} must be true or false"
    roles = [role for role in ("grade", "solution", "task") if table.get(role) is True]
    if len(roles) > 1 or "task" in roles:
        yield f"a cell is graded, or a solution, or neither; this one says {' and '.join(roles)}"
    if roles and cell.cell_type != "code":
        yield f"a {roles[0]} cell must be a code cell"
    if table.get("grade") is True and table.get("locked") is False:
        yield "a graded cell must be locked"


def _delimiters(cell: NotebookNode) -> Iterator[str]:
    """Delimiters that stock nbgrader would ship without a word, and pairs that do not close."""
    for number, text in delimiters.faults(cell.source, cell.cell_type == "code"):
        yield f"line {number} of the cell: {text}"


def _blocks(cell: NotebookNode) -> Iterator[str]:
    """Solutions belong in solution cells, hidden tests in graded ones, and each needs its block."""
    for kind, role in (("solution", "solution"), ("hidden tests", "grade")):
        count = len(delimiters.regions(cell.source, kind))
        if count and not _is(cell, role):
            yield f"a {kind} block lies in a cell whose nbgrader metadata does not say {role!r}: true"
        if not count and _is(cell, role):
            yield f"a {role} cell needs a {kind} block between its delimiters"


def _placeholder_form(cell: NotebookNode) -> Iterator[str]:
    for line in cell.source.split("\n"):
        if "{{" not in line or cell.cell_type != "markdown":
            continue
        if not re.fullmatch(r"\{\{(exercise [^{}\s]+|session)\}\}", line.strip()):
            yield f"{line.strip()!r}: write {{{{exercise ID}}}} or {{{{session}}}} alone on its line"


def _ids(nb: NotebookNode) -> list[tuple[NotebookNode, str]]:
    """No id twice, neither as nbgrader reads it nor as a cell id."""
    seen: dict[str, NotebookNode] = {}
    found = []
    for cell in nb.cells:
        if cell.id in seen:
            found.append((cell, f"has the id of {seen[cell.id].where}; a graded cell twice stops the class"))
        seen.setdefault(cell.id, cell)
    return found


def _setup(nb: NotebookNode) -> list[tuple[NotebookNode | None, str]]:
    """Just one setup cell: grading runs it and the student's cells, no lesson cells."""
    setups = [cell for cell in nb.cells if "setup" in cell.metadata.get("tags", [])]
    if len(setups) != 1:
        return [(None, f"{len(setups)} cells are tagged \"setup\"; just one is wanted, near the top")]
    if not _is(setups[0], "locked"):
        return [(setups[0], "the setup cell needs nbgrader metadata with \"locked\": true")]
    return []
