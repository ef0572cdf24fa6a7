"""Feedback pages, by nbgrader's own converter from the autograded notebooks."""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import threading
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
from nbgrader.coursedir import CourseDirectory

from .course import Course, CourseError
from .files import write_whole
from .pages import POLICY
from .record import told

LEFT_OUT = "*Lesson cells that are as they came are left out here; they are in your own notebook.*"
READABLE = """
a { color: #003d99; text-decoration: underline; }
div.nbgrader_cell .panel-heading a { color: #fff; }
.panel-heading h1 { font-size: 18px; margin: 10px 0; }
div.input_area, div.input_area pre, .panel-heading { background: #fff; }
div.nbgrader_cell .panel-heading { background: #24527a; }
h2[id^="Exercise"] { font-size: 20px; }
.rendered_html code, code { color: #9c1c44; }
"""
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
        _make_readable(page)
        policy = page.new_tag("meta", attrs={"http-equiv": "Content-Security-Policy", "content": POLICY})
        page.head.insert(0, policy)
        return str(page), resources


def _make_readable(page: BeautifulSoup) -> None:
    """What nbgrader's page lacks for a screen reader, and for eyes that see little contrast or color."""
    page.html["lang"] = "en"
    for element in page.select(".anchor-link"):
        element.decompose()
    for selected, name in ((".panel-heading > h4", "h1"), ("h3[id^=Exercise]", "h2"), ("main", "div")):
        for element in page.select(selected):
            element.name = name
    for box in page.select("body > .container"):
        box.name = "main"
    for link in page.select("#toc a[href^='#check-']"):
        link.string = link["href"].removeprefix("#check-").replace("-", ".", 1)  # the exercise, not "Test cell"
    style = page.new_tag("style")
    style.string = READABLE
    page.head.append(style)


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

    A student's pages appear all at once. workers: processes to write them with. Returns: students whose pages
    could not be written; the others have theirs. Errors: CourseError for a gradebook that can't be read now,
    OSError for a file.
    """
    write = partial(_write, course.root, course.assignment)
    workers = min(workers, len(students))
    written = _side_by_side(write, students, workers) if workers > 1 else [write(student) for student in students]
    return [student for student, done in zip(students, written) if not done]


def _side_by_side(write: Callable[[str], bool], students: list[str], workers: int) -> list[bool]:
    try:
        context = multiprocessing.get_context("forkserver")
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_the_command) as pool:
            return list(pool.map(write, students))
    except BrokenProcessPool:  # one of them was killed; a page takes as long in this process
        return [write(student) for student in students]


def _end_with_the_command() -> None:
    """Watch for a command that is killed: its processes keep each other's pipes open and would wait for ever."""

    def watch() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _write(root: Path, assignment: str, student: str) -> bool:
    """One student's pages; False when a notebook can't be converted."""
    course, page = _converter(root, assignment)
    notebooks = sorted((course.autograded / student / course.assignment).glob("*.ipynb"))
    try:
        with told(course):
            pages = {path.stem: _page(course, page, student, path) for path in notebooks}
    except (CourseError, OSError):
        raise
    except Exception:  # nbconvert raises many kinds; one student's notebook must not stop the others
        return False
    if pages:
        _put(course.feedback / student / course.assignment, pages)
    return True


@cache
def _converter(root: Path, assignment: str) -> tuple[Course, HTMLExporter]:
    """nbgrader's own, as this course's configuration makes it; once a process."""
    course = Course.at(root, assignment)
    converter = GenerateFeedback(CourseDirectory(config=course.config, root=str(root)), config=course.config)
    converter.log.setLevel(logging.CRITICAL)
    page = converter.exporter_class(parent=converter, config=converter.config)
    for kind in converter.preprocessors:
        page.register_preprocessor(kind)
    return course, page


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
