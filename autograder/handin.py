"""Hand in: one zip of a student's notebooks, and what is missing or not attempted in them."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from . import ASSIGNMENT

STUB = "raise NotImplementedError()"
MAX_BYTES = 20 << 20  # of a notebook that is graded
_CHECK = re.compile(r"""^check\(\s*["']([^"']+)["']""", re.MULTILINE)


class NothingToHandIn(RuntimeError):
    """No notebook, or no name to hand in under; one sentence that says what to do."""


@dataclass
class Draft:
    """A notebook as it is about to be handed in. attempted, untouched: ids of its exercises.

    unchecked: attempted exercises whose check was never run. trouble: why it can't be graded; empty when it can.
    """

    path: Path
    attempted: list[str] = field(default_factory=list)
    untouched: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    trouble: str = ""


def drafts(folder: Path) -> list[Draft]:
    """The notebooks in `folder`, or in a course folder those that students open. Errors: NothingToHandIn."""
    for place in (folder, folder / "notebooks" / ASSIGNMENT):
        found = [path for path in sorted(place.glob("*.ipynb")) if path.is_file()]
        if found:
            return [_read(path) for path in found]
    raise NothingToHandIn(f"there is no notebook in {folder}; go to the folder that holds yours")


def absent(found: list[Draft]) -> dict[str, list[str]]:
    """Exercises of the session that no notebook holds, by the notebook in which they belong."""
    from .lesson.session import PARTS

    here = {i for draft in found for i in (*draft.attempted, *draft.untouched)}
    wanted = {part.notebook: [one.id for one in part.exercises() if one.id not in here] for part in PARTS}
    return {notebook: missing for notebook, missing in wanted.items() if missing}


def pack(found: list[Draft], name: str, folder: Path) -> Path:
    """Zip the notebooks with the time in timestamp.txt, which nbgrader reads. Errors: NothingToHandIn.

    name: whose they are; it becomes part of the file's name.
    """
    plain = re.sub(r"[^\w.@+-]+", "-", name).strip(".-")
    if not plain:
        raise NothingToHandIn(f"--name {name!r} gives no name for a file; use letters or digits")
    path = folder / f"{ASSIGNMENT}-{plain}.zip"
    partial = path.with_suffix(".partial")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for draft in found:
                archive.write(draft.path, draft.path.name)
            archive.writestr("timestamp.txt", datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC") + "\n")
        return partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _read(path: Path) -> Draft:
    draft = Draft(path)
    size = path.stat().st_size
    if size > MAX_BYTES:
        draft.trouble = f"has {size / 1e6:.0f} MB, more than is graded; clear its outputs and save it"
        return draft
    try:
        cells = json.loads(path.read_text(encoding="utf-8-sig"))["cells"]
        solution = ""
        for cell in cells:
            solution = _follow(cell, solution, draft)
    except (ValueError, KeyError, TypeError, AttributeError):
        draft.trouble = "can't be read as a notebook; open it in JupyterLab and save it again"
    return draft


def _follow(cell: dict, solution: str, draft: Draft) -> str:
    """Note what a cell says of its exercise. Returns: the latest stub or solution up to here."""
    source = "".join(cell["source"])
    flags = cell.get("metadata", {}).get("nbgrader") or {}
    if flags.get("solution"):
        return source
    checked = _CHECK.search(source) if flags.get("grade") else None
    if checked:
        (draft.untouched if STUB in solution else draft.attempted).append(checked[1])
        if STUB not in solution and cell.get("execution_count") is None:
            draft.unchecked.append(checked[1])
    return solution
