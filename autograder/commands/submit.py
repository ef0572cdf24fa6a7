"""Pack your notebooks into one zip, and say which are missing and which exercises are not attempted.

Save the notebooks first. The zip is made in the folder that you are in; hand that file in. Nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import getpass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..handin import Draft

HELP = "pack your notebooks into one zip to hand in"
EXAMPLE = "  autograder submit --name ada     makes s19-debugging-ada.zip"
NEEDS = ("torch",)
IN_COURSE = False


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", help="your name or number in the course (default: your name on this machine)")


def run(options: argparse.Namespace) -> int:
    from ..exercises import all_exercises
    from ..handin import absent, drafts, pack

    found = drafts(options.course.resolve())
    for draft in found:
        print(_line(draft))
    for notebook, missing in absent(found).items():
        print(f"{notebook + '.ipynb':<34}MISSING with {_exercises(missing)}")
    path = pack(found, options.name or getpass.getuser(), Path.cwd())
    attempted = f"{sum(len(draft.attempted) for draft in found)} of {len(all_exercises())} exercises attempted"
    print(f"{path.name}: {len(found)} notebooks, {attempted}; hand this file in")
    return 0


def _line(draft: Draft) -> str:
    """A notebook's name, and what is open in it."""
    remarks = [draft.trouble] if draft.trouble else []
    if draft.untouched:
        remarks.append(f"not attempted: {', '.join(draft.untouched)}")
    if draft.unchecked:
        remarks.append(f"check not run: {', '.join(draft.unchecked)}")
    whole = "complete" if draft.attempted else "no exercise in it"
    return f"{draft.path.name:<34}{'; '.join(remarks) or whole}"


def _exercises(ids: list[str]) -> str:
    return f"exercise{'s' if len(ids) > 1 else ''} {', '.join(ids)}"
