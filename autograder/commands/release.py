"""Make what students get: a folder and a zip with notebooks, what they import, environment and README.

Nothing else goes along: no solutions, no sources, no tests, no gradebook, no secret. Gates look through every
file before anything is put in place. nbgrader's own `release_assignment` hands out the notebooks alone, without
the package that they import.
"""

from __future__ import annotations

import argparse

HELP = "what students get: one folder and a zip, without answers"
EXAMPLE = "  autograder release     writes grading/release/s19-debugging/ and grading/release/s19-debugging.zip"
NEEDS = ("nbformat", "nbgrader")
IN_COURSE = True


def add(parser: argparse.ArgumentParser) -> None:
    """No options."""


def run(options: argparse.Namespace) -> int:
    from ..build.handout import hand_out

    folder, archive = hand_out(options.course)
    files = sum(path.is_file() for path in folder.rglob("*"))
    print(f"{folder}: {files} files, none of which shows an answer or the course secret")
    print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB")
    return 0
