"""Say what is installed here and what is missing, and for each lack how to end it.

Exit code 1 when something is missing that the work here needs; a note stops nobody.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

HELP = "what is installed, what is missing and how to get it"
EXAMPLE = "  autograder doctor"
NEEDS = ()
IN_COURSE = False


def add(parser: argparse.ArgumentParser) -> None:
    """No options."""


def run(options: argparse.Namespace) -> int:
    from ..doctor import for_work

    folder = options.course.resolve()
    parts = {"To work on the notebooks": for_work(folder)}
    if _of_staff(folder):
        from ..grading.ready import for_grading

        parts["To build and grade"] = for_grading(folder)
    for title, findings in parts.items():
        print(title, *findings, "", sep="\n")
    stops = [finding.what for findings in parts.values() for finding in findings if finding.stops]
    print(f"missing: {', '.join(stops)}" if stops else "all is here")
    return 1 if stops else 0


def _of_staff(folder: Path) -> bool:
    """Whether this is a whole installation in a course folder, and not a student's copy."""
    return importlib.util.find_spec("autograder.grading") is not None and (folder / "nbgrader_config.py").is_file()
