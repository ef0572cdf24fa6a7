"""Write scores for another program, as they are in the gradebook now; nothing is graded.

nbgrader: the columns of `nbgrader export`, quoted. canvas: a gradebook that Canvas imports. json: every exercise.
A name that would begin a formula in a spreadsheet gets an apostrophe before it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "scores as CSV for nbgrader or Canvas, or as JSON"
EXAMPLE = "  autograder export --format canvas --to canvas.csv"
NEEDS = ("nbgrader",)
IN_COURSE = True


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", nargs="?", help="default: the one that is built")
    formats = ("nbgrader", "canvas", "json")
    parser.add_argument("--format", choices=formats, default="nbgrader", help="default: nbgrader")
    parser.add_argument("--to", type=Path, metavar="FILE", help="default: grading/grades-FORMAT.csv or .json")


def run(options: argparse.Namespace) -> int:
    from ..grading.course import Course, CourseError
    from ..grading.export import FORMATS
    from ..grading.files import write_whole
    from ..grading.standing import read_class

    group = read_class(Course.at(options.course, options.assignment))
    ending, write = FORMATS[options.format]
    path = options.to or group.course.home / f"grades-{options.format}.{ending}"
    if path.is_dir() or not path.parent.is_dir():
        raise CourseError(f"--to {path}: a scores file can't be made there; name a file in a folder that exists")
    write_whole(path, write(group))
    print(f"{path}: {len(group.standings)} students")
    return 0
