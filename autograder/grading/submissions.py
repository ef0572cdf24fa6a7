"""Find and read what students handed in, trusting none of it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nbformat

from ..handin import MAX_BYTES as MAX_FILE
from .archives import unpacked
from .course import Course, CourseError
from .restore import Restored, grade_id, restore


@dataclass
class Submission:
    """One student's folder. files: path by notebook name; problems: reason by notebook name."""

    student: str
    folder: Path
    files: dict[str, Path] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Unreadable(ValueError):
    """A submitted file that is not a notebook; the text is the reason that the student gets."""


def find_submissions(course: Course, student: str | None = None) -> list[Submission]:
    """Every submission of the assignment, by student. Errors: CourseError when there is none."""
    if not course.submitted.is_dir():
        place = f"STUDENT/{course.assignment}/"
        raise CourseError(f"{course.submitted} does not exist; put submissions in {place} below it")
    folders = sorted(p / course.assignment for p in course.submitted.iterdir() if not p.name.startswith("."))
    found = [
        Submission(f.parent.name, f)
        for f in folders
        if f.is_dir() and not f.parent.is_symlink() and not f.is_symlink() and student in (None, f.parent.name)
    ]
    if not found:
        who = f"{student}/" if student else "STUDENT/"
        raise CourseError(f"no submission found at {course.submitted}/{who}{course.assignment}/")
    for submission in found:
        unpack_to = course.home / "unpacked" / submission.student / course.assignment
        submission.folder, submission.notes = unpacked(submission.folder, unpack_to)
        _match(course, submission)
    return found


def read(course: Course, path: Path, name: str) -> Restored:
    """A submitted notebook, restored. Errors: Unreadable with the reason."""
    return restore(_parse(path), *originals(course, name))


@cache
def originals(course: Course, name: str) -> tuple[nbformat.NotebookNode, nbformat.NotebookNode]:
    """A notebook's source and release, read once; nobody changes them."""
    return course.source_notebook(name), course.release_notebook(name)


def _match(course: Course, submission: Submission) -> None:
    """Which file is which notebook: by name, else by its graded cells."""
    wanted = course.notebooks()
    files = sorted(submission.folder.glob("*.ipynb"), key=lambda p: p.name)
    by_name = {p.stem: p for p in files}
    submission.files = {name: by_name.pop(name) for name in wanted if name in by_name}
    ids = {name: _ids(course, name) for name in wanted}
    for path in by_name.values():
        name = _by_cells(path, {n: ids[n] for n in wanted if n not in submission.files})
        if name:
            submission.files[name] = path
            submission.notes.append(f"{path.name} was taken for {name}.ipynb by its cells")
        else:
            submission.notes.append(f"{path.name} belongs to no notebook of the assignment and was ignored")
    for name in wanted:
        path = submission.files.get(name)
        reason = _objection(path.name, path.lstat()) if path else f"{name}.ipynb was not handed in"
        if reason:
            submission.problems[name] = reason
            submission.files.pop(name, None)


def _ids(course: Course, name: str) -> set[str]:
    return {grade_id(c) for c in course.source_notebook(name).cells if grade_id(c)}


def _by_cells(path: Path, candidates: dict[str, set[str]]) -> str | None:
    try:
        found = {grade_id(c) for c in _parse(path).cells}
    except Unreadable:
        return None
    best = max(candidates, key=lambda n: len(found & candidates[n]), default=None)
    return best if best and found & candidates[best] else None


def _objection(name: str, status: os.stat_result) -> str:
    """Why a file is not to be opened at all, or nothing."""
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        return f"{name} is not a plain file of its own"
    if status.st_size > MAX_FILE:
        return f"{name} has {status.st_size:,} bytes; {MAX_FILE:,} are allowed"
    return ""


def _parse(path: Path) -> nbformat.NotebookNode:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        raise Unreadable(f"{path.name} can't be opened as a plain file") from None
    with os.fdopen(descriptor, "rb") as file:
        reason = _objection(path.name, os.fstat(file.fileno()))
        if reason:
            raise Unreadable(reason)
        data = file.read(MAX_FILE + 1)
    try:
        notebook = nbformat.reads(data.decode("utf-8-sig"), as_version=4)
        if not isinstance(notebook.cells, list) or not all(_is_cell(c) for c in notebook.cells):
            raise ValueError("cells")
    except UnicodeDecodeError:
        raise Unreadable(f"{path.name} is not UTF-8 text; save it again from JupyterLab") from None
    except Exception:  # nbformat raises many kinds for files that are no notebooks
        raise Unreadable(f"{path.name} is not a notebook that can be read; save it again from JupyterLab") from None
    return notebook


def _is_cell(cell: object) -> bool:
    return isinstance(cell, dict) and isinstance(cell.get("source"), str) and isinstance(cell.get("metadata"), dict)
