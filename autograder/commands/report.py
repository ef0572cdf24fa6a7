"""Write the class's report again, from the gradebook and what the last grading observed; nothing is graded.

Scores are those of the gradebook now: run it after changes in formgrader.
"""

from __future__ import annotations

import argparse

HELP = "the class on one page: scores, exercises, diagnoses, who needs a look"
EXAMPLE = "  autograder report     writes grading/report.html"
NEEDS = ("nbgrader", "jinja2", "matplotlib", "torch")
IN_COURSE = True


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", nargs="?", help="default: the one that is built")


def run(options: argparse.Namespace) -> int:
    from ..grading.class_page import write_report
    from ..grading.course import Course
    from ..grading.standing import read_class

    print(write_report(read_class(Course.at(options.course, options.assignment))))
    return 0
