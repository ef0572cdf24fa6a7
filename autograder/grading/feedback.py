"""Feedback pages, by nbgrader's own converter from the autograded notebooks."""

from __future__ import annotations

import logging
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from pathlib import Path
from typing import Any, Callable

from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets import Unicode

from .course import Course

# What a browser may do with a page: show text, styles and images that lie in the page itself.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
LEFT_OUT = "*Lesson cells that are as they came are left out here; they are in your own notebook.*"
ACTIVE = ("script", "iframe", "object", "embed", "link", "base", "form", "meta[http-equiv]")


class InertPage(HTMLExporter):
    """nbgrader's feedback page of a student's own work, without scripts and with a policy that lets nothing leave.

    Formulas stay as they were typed: what would set them is a script from another host.
    """

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> tuple[str, dict]:
        html, resources = super().from_notebook_node(own_work(nb), resources, **kw)
        page = BeautifulSoup(html, features="html.parser")
        for element in page.select(", ".join(ACTIVE)):
            element.decompose()
        policy = page.new_tag("meta", attrs={"http-equiv": "Content-Security-Policy", "content": POLICY})
        page.head.insert(0, policy)
        return str(page), resources


def own_work(nb: NotebookNode) -> NotebookNode:
    """The notebook without the lesson cells that a student left as they came, but for the text of each task."""
    lesson = [bool(cell.metadata.get("autograder", {}).get("lesson")) for cell in nb.cells]
    above = [bool(cell.metadata.get("nbgrader", {}).get("solution")) for cell in nb.cells[1:]] + [False]
    kept = [
        cell
        for cell, is_lesson, is_task in zip(nb.cells, lesson, above)
        if not is_lesson or (is_task and cell.cell_type == "markdown")
    ]
    if len(kept) < len(nb.cells):
        kept.insert(0, new_markdown_cell(LEFT_OUT, id="left-out"))
    return NotebookNode(nb, cells=kept)


def write_feedback(course: Course, students: list[str], workers: int = 1) -> list[str]:
    """Write feedback/STUDENT/ASSIGNMENT/*.html for the students that have a graded notebook.

    workers: processes to do it with. Returns: students whose pages could not be written; the others have theirs.
    """
    write = partial(_write, course.root, course.assignment)
    workers = min(workers, len(students))
    written = _side_by_side(write, students, workers) if workers > 1 else [write(student) for student in students]
    return [student for student, done in zip(students, written) if not done]


def _side_by_side(write: Callable[[str], bool], students: list[str], workers: int) -> list[bool]:
    try:
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("forkserver")) as pool:
            return list(pool.map(write, students))
    except BrokenProcessPool:  # one of them was killed; a page takes as long in this process
        return [write(student) for student in students]


def _write(root: Path, assignment: str, student: str) -> bool:
    """One student's pages; nbgrader works in the course folder."""
    course, here = _course(root, assignment), os.getcwd()
    if not any((course.autograded / student / course.assignment).glob("*.ipynb")):
        return True
    os.chdir(root)
    try:
        _convert(course, student)
    except NbGraderException:
        return False
    finally:
        os.chdir(here)
    return True


@cache
def _course(root: Path, assignment: str) -> Course:
    return Course.at(root, assignment)


class _OneStudent(GenerateFeedback):
    """nbgrader finds notebooks by patterns of file names, and a student's id may hold a pattern's characters."""

    folder = Unicode()

    def init_notebooks(self) -> None:
        self.assignments = {self.folder: sorted(str(path) for path in Path(self.folder).glob("*.ipynb"))}


def _convert(course: Course, student: str) -> None:
    directory = CourseDirectory(config=course.config, root=str(course.root), assignment_id=course.assignment)
    folder = str(course.autograded / student / course.assignment)
    converter = _OneStudent(coursedir=directory, config=course.config, force=True, folder=folder)
    converter.log.setLevel(logging.CRITICAL)
    converter.start()
