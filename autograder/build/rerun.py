"""Gates on built notebooks that need a fresh run: stored outputs, and the released state."""

from __future__ import annotations

from typing import Iterator

from nbformat import NotebookNode

from .course import Problem
from .execute import result_text
from .text import check_id, grader


def missing_outputs(stored: NotebookNode, fresh: NotebookNode, file: str) -> list[Problem]:
    """Cells that put something out when run, but have nothing stored; nbval passes those.

    fresh: the same notebook after `execute`. Cells tagged nbval-skip are left out.
    """
    return [
        Problem(file, f"cell {kept.id!r}", "puts something out when run, but has no stored output; run make build")
        for kept, ran in zip(stored.cells, fresh.cells)
        if ran.get("outputs") and not kept.get("outputs") and "nbval-skip" not in kept.metadata.get("tags", [])
    ]


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
