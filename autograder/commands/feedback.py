"""Write feedback pages again, after scores or comments were changed in formgrader; nothing is graded.

Each student's folder grading/feedback/STUDENT/ASSIGNMENT/ holds index.html for the session and a page a notebook.
`nbgrader generate_feedback` writes the notebooks' pages alone.
"""

from __future__ import annotations

import argparse
import os

HELP = "write the feedback pages again, after changes in formgrader"
EXAMPLE = "  autograder feedback --student ada"
NEEDS = ("nbgrader", "jinja2")
IN_COURSE = True


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", nargs="?", help="default: the one that is built")
    parser.add_argument("--student", help="this student's pages alone")


def run(options: argparse.Namespace) -> int:
    from ..grading.course import Course
    from ..grading.feedback import write_feedback
    from ..grading.session_page import write_session_pages
    from ..grading.standing import read_class

    group = read_class(Course.at(options.course, options.assignment))
    students = group.chosen(options.student)
    unwritten = write_feedback(group.course, students, os.cpu_count() or 1)
    write_session_pages(group, [student for student in students if student not in unwritten])
    for student in unwritten:
        print(f"{student!r}: no feedback page could be written")
    print(f"{group.course.feedback}: pages of {len(students) - len(unwritten)} students")
    return 1 if unwritten else 0
