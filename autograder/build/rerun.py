"""Stored outputs against a fresh run: what a build keeps, and gates on solved and released notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

import nbformat
from nbformat import NotebookNode

from .course import Problem
from .execute import result_text
from .text import check_id, grader


def keep_unstable(fresh: NotebookNode, path: Path) -> None:
    """Take over outputs that differ at each run, times for instance, from the notebook stored at `path`.

    Only in cells tagged nbval-ignore-output whose source is the same. They were run and gated
    all the same; this saves a change of the file at each build.
    """
    try:
        stored = nbformat.read(path, as_version=4)
    except (OSError, nbformat.reader.NotJSONError, nbformat.ValidationError):
        return
    before = {cell.get("id"): cell for cell in stored.cells if cell.cell_type == "code"}
    for cell in fresh.cells:
        old = before.get(cell.id)
        if old is None or old.source != cell.source or "nbval-ignore-output" not in cell.metadata.get("tags", []):
            continue
        if [_shape(o) for o in old.outputs] == [_shape(o) for o in cell.outputs]:
            cell.outputs = old.outputs


def _shape(output: NotebookNode) -> tuple:
    return output.output_type, output.get("name"), tuple(sorted(output.get("data", {})))


def unsolved_problems(ran: NotebookNode, file: str) -> list[Problem]:
    """What is wrong with a released notebook that ran as it is, every stub untouched.

    Only stubs may fail, with NotImplementedError; each check shows 0.0 and "not attempted".
    """
    return [
        Problem(file, f"cell {cell.id!r}", text)
        for cell in ran.cells
        if cell.cell_type == "code"
        for text in _cell(cell)
    ]


def _cell(cell: NotebookNode) -> Iterator[str]:
    stub = grader(cell).get("solution") is True
    for output in cell.outputs:
        if output.output_type == "error" and not (stub and output.ename == "NotImplementedError"):
            yield f"fails in the notebook as released: {output.ename}: {output.evalue[:300]}"
    if check_id(cell) is None:
        return
    if result_text(cell) != "0.0":
        yield f"shows {result_text(cell) or 'nothing'} for an untouched stub; 0.0 is wanted"
    elif "not attempted" not in _html(cell):
        yield "does not say 'not attempted' for an untouched stub"


def _html(cell: NotebookNode) -> str:
    return "\n".join(str(o.get("data", {}).get("text/html", "")) for o in cell.outputs)
