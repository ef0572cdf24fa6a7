"""What must not leave a course: its secret, whole solutions, hidden tests, and where this machine keeps things."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path
from typing import Iterator

import nbformat

from . import delimiters
from .course import Course, Problem
from .release import all_lines, squeeze, telling

SECRET, SOLUTION, HIDDEN, PLACE = KINDS = ("secret", "solution", "hidden tests", "machine path")
# A home of somebody's, and the file that a kernel names in a traceback.
HOMES = re.compile(r"(?:/home|/Users|[A-Z]:\\Users)[\\/][\w.-]+|ipykernel_\d+")
ARCHIVES = (".zip", ".whl")


def leaks(course: Course, found: Path, kinds: tuple[str, ...] = KINDS) -> list[Problem]:
    """Which of `kinds` a file, a folder or an archive holds, in whatever file of it.

    Feedback shows a student's own answer, which may be ours: look for the other kinds there.
    """
    wanted = [(text, says) for kind, text, says in _wanted(course) if kind in kinds]
    problems = []
    for name, text in _texts(found):
        squeezed = squeeze(text)
        problems += [Problem(name, "", says) for part, says in wanted if part in squeezed]
        if PLACE in kinds:
            homes = sorted(set(HOMES.findall(text)))
            problems += [Problem(name, "", f"names a place of a machine: {home}") for home in homes]
    return problems


def _wanted(course: Course) -> Iterator[tuple[str, str, str]]:
    """(kind, what to look for without its spaces, what to say of it)."""
    secret = course.root / "grading" / "secret"
    if secret.is_file():
        yield SECRET, squeeze(secret.read_text()), "holds the course secret"
    for place in {course.root, Path(sys.prefix), Path.home()}:
        if len(place.parts) > 2:  # a shorter one is no one machine's
            yield PLACE, squeeze(str(place)), f"names a place of this machine: {place}"
    for path in sorted(course.solved.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            where = f"{path.name}, cell {cell.id}"
            for block in delimiters.regions(cell.source, "solution"):
                if sum(map(telling, block)) >= 3:
                    yield SOLUTION, squeeze("\n".join(block)), f"shows the whole solution of {where}"
            for block in delimiters.regions(cell.source, "hidden tests"):
                for line in filter(telling, block):
                    yield HIDDEN, squeeze(line), f"shows a hidden test of {where}"


def _texts(found: Path) -> Iterator[tuple[str, str]]:
    """(name, all that it shows) for each file; an archive is looked into."""
    if found.is_dir():
        for path in sorted(p for p in found.rglob("*") if p.is_file()):
            for name, text in _texts(path):
                yield str(path.relative_to(found)) + name.removeprefix(path.name), text
    elif found.suffix in ARCHIVES:
        with zipfile.ZipFile(found) as archive:
            for member in archive.namelist():
                yield f"{found.name}, {member}", _shown(member, archive.read(member))
    else:
        yield found.name, _shown(found.name, found.read_bytes())


def _shown(name: str, content: bytes) -> str:
    """The text of a file; of a notebook its cells and outputs as they were before they became JSON."""
    text = content.decode("utf-8", "replace")
    if not name.endswith(".ipynb"):
        return text
    return "\n".join(line for cell in nbformat.reads(text, as_version=4).cells for line in all_lines(cell))
