"""Feedback pages, by nbgrader's own converter from the autograded notebooks."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from .course import Course, CourseError
from .files import write_whole
from .record import told

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

    A student's pages appear all at once. Returns: students whose pages could not be written; the others
    have theirs. Errors: CourseError for a gradebook that can't be read now, OSError for a file.
    """
    converter = GenerateFeedback(CourseDirectory(config=course.config, root=str(course.root)), config=course.config)
    converter.log.setLevel(logging.CRITICAL)
    page = converter.exporter_class(parent=converter, config=converter.config)
    for kind in converter.preprocessors:
        page.register_preprocessor(kind)
    failed = []
    for student in students:
        notebooks = sorted((course.autograded / student / course.assignment).glob("*.ipynb"))
        try:
            with told(course):
                pages = {path.stem: _page(course, page, student, path) for path in notebooks}
        except (CourseError, OSError):
            raise
        except Exception:  # nbconvert raises many kinds; one student's notebook must not stop the others
            failed.append(student)
            continue
        if pages:
            _put(course.feedback / student / course.assignment, pages)
    return failed


def _page(course: Course, page: HTMLExporter, student: str, path: Path) -> str:
    names = {"student": student, "assignment": course.assignment, "notebook": path.stem, "db_url": course.db_url}
    return page.from_filename(str(path), resources={"nbgrader": names, "unique_key": path.stem})[0]


def _put(folder: Path, pages: dict[str, str]) -> None:
    """Put pages in the place of a folder; whatever interrupts it, there is no folder with some of them."""
    partial = folder.with_name(".partial")
    for old in (partial, folder):
        if old.exists():
            shutil.rmtree(old)
    partial.mkdir(parents=True)
    try:
        for name, text in pages.items():
            write_whole(partial / f"{name}.html", text)
        partial.rename(folder)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)
        raise
