"""Make the notebooks from their texts in solutions/: executed ones with answers, and those that students open.

Gates refuse what a student must not see and what does not run; the course changes only when all are passed.
"""

from __future__ import annotations

import argparse

HELP = "make the notebooks from their texts in solutions/"
EXAMPLE = "  autograder build --check     say what a build would change, outputs apart"
NEEDS = ("torch", "nbgrader", "nbclient", "jupytext")
IN_COURSE = True


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="build in a scratch folder and compare with what is here")
    parser.add_argument("--if-needed", action="store_true", help="keep notebooks that match their texts, outputs apart")


def run(options: argparse.Namespace) -> int:
    from .. import build

    return build.main(options.course, options.check, options.if_needed)
