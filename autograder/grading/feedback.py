"""Feedback pages, by nbgrader's own converter from the autograded notebooks."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets import Unicode

from .course import Course

# What a browser may do with a page: show text, styles and images that lie in the page itself.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
ACTIVE = ("script", "iframe", "object", "embed", "link", "base", "form", "meta[http-equiv]")


class InertPage(HTMLExporter):
    """nbgrader's feedback page without scripts, and with a policy that lets nothing run or leave.

    Formulas stay as they were typed: what would set them is a script from another host.
    """

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> tuple[str, dict]:
        html, resources = super().from_notebook_node(nb, resources, **kw)
        page = BeautifulSoup(html, features="html.parser")
        for element in page.select(", ".join(ACTIVE)):
            element.decompose()
        policy = page.new_tag("meta", attrs={"http-equiv": "Content-Security-Policy", "content": POLICY})
        page.head.insert(0, policy)
        return str(page), resources


def write_feedback(course: Course, students: list[str]) -> list[str]:
    """Write feedback/STUDENT/ASSIGNMENT/*.html for the students that have a graded notebook.

    Returns: students whose pages could not be written; the others have theirs.
    """
    here, failed = os.getcwd(), []
    os.chdir(course.root)
    try:
        for student in students:
            if any((course.autograded / student / course.assignment).glob("*.ipynb")):
                try:
                    _convert(course, student)
                except NbGraderException:
                    failed.append(student)
    finally:
        os.chdir(here)
    return failed


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
