"""Grade a class. Student code runs walled in, verdicts are reached outside; what has not changed is not graded again.

Submissions lie in grading/submitted/STUDENT/ASSIGNMENT/, as notebooks or as the zip that `autograder submit` makes.
Scores go to the gradebook, which nbgrader and formgrader read; feedback pages and report.html lie in grading/.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..grading.course import Course
    from ..grading.task import StudentResult

HELP = "grade a class: gradebook, feedback, report"
EXAMPLE = "  autograder grade --student ada"
NEEDS = ("torch", "nbgrader", "distributed", "rich")
IN_COURSE = True


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", nargs="?", help="default: the one that is built")
    parser.add_argument("--student", help="grade this student alone")
    parser.add_argument("--workers", type=int, default=0, help="processes that run notebooks (default: one a core)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, to grade on a cluster")
    parser.add_argument("--certificates", type=Path, help="folder with ca.pem, cert.pem and key.pem of that cluster")
    parser.add_argument("--no-sandbox", action="store_true", help="run student code as this user; for code you trust")
    parser.add_argument("--force", action="store_true", help="grade again what has not changed since it was recorded")
    parser.add_argument(
        "--prune", type=float, metavar="DAYS", help="first forget stored results that no grading used for DAYS days"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors; the report says the rest")
    parser.add_argument("--no-feedback", action="store_true", help="leave the feedback pages out")


def run(options: argparse.Namespace) -> int:
    from ..grading.prepare import prepare

    if not options.scheduler:
        prepare()  # while this process imports what follows
    from rich.console import Console

    from ..grading import report
    from ..grading.cache import Cache
    from ..grading.class_page import write_report
    from ..grading.course import Course
    from ..grading.engine import grade_class
    from ..grading.feedback import write_feedback
    from ..grading.progress import followed
    from ..grading.results import entries_of_others, path_of
    from ..grading.session_page import write_session_pages
    from ..grading.standing import read_class
    from ..grading.workers import Crew

    console = Console(highlight=False, quiet=options.quiet)
    course = Course.at(options.course, options.assignment)
    walls = not options.no_sandbox
    begun = time.monotonic()
    if options.prune is not None:
        console.print(f"{Cache(course.home / 'cache').prune(options.prune)} stored results forgotten")
    results = []
    crew = Crew(options.workers, options.scheduler, options.certificates, walls)
    with followed(console) as watch:
        for result in grade_class(course, options.student, crew, options.force, watch):
            results.append(result)
            said = f"{result.score:g} of {result.points:g}" if not result.failed else "not graded, run this again"
            if not console.is_terminal or result.failed or report.attention(result):
                console.print(report.plain(f"{result.student}: {said}"))
    results.sort(key=lambda r: r.student)
    report.show(results, console, walls)
    others = entries_of_others(course, {r.student for r in results}) if options.student else []
    report.write_json(results, path_of(course), walls, others)
    notebooks = sum(r.notebooks for r in results)
    seconds = time.monotonic() - begun
    console.print(f"{notebooks} notebooks in {seconds:.1f} s, {seconds / max(notebooks, 1):.2f} s a notebook")
    group, unwritten = read_class(course), []
    if not options.no_feedback:
        wanted = [r.student for r in results if not r.failed and (r.fresh or not _has_page(course, r))]
        unwritten = write_feedback(course, wanted, crew.size)
        for student in unwritten:
            console.print(report.plain(f"{student}: no feedback page could be written"))
        write_session_pages(group, [student for student in wanted if student not in unwritten])
        console.print(f"feedback: {course.feedback}", soft_wrap=True)
    console.print(f"report: {write_report(group)}", soft_wrap=True)
    return 1 if unwritten or any(r.failed for r in results) else 0


def _has_page(course: Course, result: StudentResult) -> bool:
    from ..grading.session_page import INDEX  # the page that is written last

    return (course.feedback / result.student / course.assignment / INDEX).is_file()
