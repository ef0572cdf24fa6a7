"""How two builds of a course differ: sources, ids and metadata; outputs are nbval's to compare."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from .course import Course, Problem


def differences(made: Course, place: Course) -> list[Problem]:
    """What is missing, left over or different in `place`, notebook by notebook."""
    found = []
    parts = ("cell_type", "source", "metadata")
    pairs = ((made.solved, place.solved, parts), (made.released, place.released, (*parts, "outputs")))
    for new, old, parts in pairs:
        names = {path.name for path in [*new.glob("*.ipynb"), *old.glob("*.ipynb")]}
        for name in sorted(names):
            found += _notebook(new / name, old / name, place.tell(old / name), parts)
    return found


def _notebook(new: Path, old: Path, file: str, parts: tuple[str, ...]) -> list[Problem]:
    if not old.exists():
        return [Problem(file, "", "is missing; run make build")]
    if not new.exists():
        return [Problem(file, "", "has no text in solutions/; run make build")]
    try:
        there = nbformat.read(old, as_version=4)
    except Exception as error:
        return [Problem(file, "", f"can't be read ({error}); run make build")]
    found = _cells(nbformat.read(new, as_version=4), there, parts)
    told = [Problem(file, cell, f"{what}; run make build") for cell, what in found[:3]]
    return told + [Problem(file, "", f"and {len(found) - 3} cells more")] * (len(found) > 3)


def _cells(new: NotebookNode, old: NotebookNode, parts: tuple[str, ...]) -> list[tuple[str, str]]:
    """The first difference of each cell, as (cell, what differs)."""
    found = [] if new.metadata == old.metadata else [("", "its metadata differs")]
    ids = [cell.get("id") for cell in new.cells], [cell.get("id") for cell in old.cells]
    if ids[0] != ids[1]:
        odd = sorted(set(map(str, ids[0])) ^ set(map(str, ids[1])))
        return [*found, ("", f"its cells differ: {', '.join(odd) or 'another order'}")]
    for made, there in zip(new.cells, old.cells):
        for part in parts:
            if made.get(part) != there.get(part):
                found.append((f"cell {made.id!r}", f"its {part} differs from the text"))
                break
    return found
