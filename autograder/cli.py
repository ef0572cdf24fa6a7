"""The command `autograder`: finds the command, checks what it needs, and tells what went wrong."""

from __future__ import annotations

import argparse
import errno
import importlib.util
import os
import sys
import warnings
from pathlib import Path
from types import ModuleType

from . import __version__
from .commands import TOUR, installed

COURSE_FILE = "nbgrader_config.py"
# Errors whose text says what is wrong and what to do; any other is a defect of ours.
_FORESEEN = {
    "autograder.build.course": "BuildError",
    "autograder.exercises": "UnknownExercise",
    "autograder.grading.course": "CourseError",
    "autograder.handin": "NothingToHandIn",
    "autograder.judge.seeds": "SecretUnreadable",
    "autograder.sandbox.limits": "SandboxUnavailable",
}
_WAYS_OUT = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EFBIG: "allow larger files",
    errno.EROFS: "make the place writable",
    errno.EACCES: "make it yours to write",
    errno.EPERM: "make it yours to write",
}


def main(argv: list[str] | None = None) -> int:
    """Run a command. Returns its exit code: 0 done, 1 a gate or an item failed, 2 bad input."""
    parser = _parser(installed())
    options = parser.parse_args(argv)
    if not options.command:
        parser.print_help()
        return 0
    # nbgrader's own notes to its developers; an instructor can do nothing about them
    warnings.filterwarnings("ignore", module=r"nbgrader\.|sqlalchemy\.")
    objection = _objection(options)
    if objection:
        return _refuse(objection)
    try:
        return options.run(options)
    except KeyboardInterrupt:
        print("stopped; what was recorded stays, the same command goes on", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read what is printed has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        if error.errno not in _WAYS_OUT:
            raise
        way_out = f"{_WAYS_OUT[error.errno]} and run the same command again"
        return _refuse(f"{error.filename or 'a file'}: {error.strerror}; {way_out}")
    except _foreseen() as error:
        return _refuse(str(error))


def _parser(commands: dict[str, ModuleType]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autograder",
        usage="autograder [--course FOLDER] COMMAND ...",
        description=_tour(commands),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    course = "course folder, named before the command (default: here)"
    parser.add_argument("--course", metavar="FOLDER", type=Path, default=Path.cwd(), help=course)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", help=argparse.SUPPRESS)
    for name, module in commands.items():
        chosen = subparsers.add_parser(
            name,
            prog=f"autograder {name}",
            description=module.__doc__,
            epilog=f"example:\n{module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add(chosen)
        chosen.set_defaults(run=module.run, needs=module.NEEDS, in_course=module.IN_COURSE)
    return parser


def _tour(commands: dict[str, ModuleType]) -> str:
    """Every command in a line, under the people who use it and in the order in which they do."""
    lines = ["A course in finding out why training fails, with exercises whose marks can be believed.", ""]
    told: set[str] = set()
    for people, names in TOUR:
        here = [name for name in names if name in commands]
        if told.issuperset(here):  # a student's copy has nothing for instructors
            continue
        told.update(here)
        lines += [people, *(f"  {name:<10}{commands[name].HELP}" for name in here), ""]
    return "\n".join([*lines, "autograder COMMAND --help says more, with an example."])


def _objection(options: argparse.Namespace) -> str:
    """Why a command can't begin here: packages that are missing, a folder that is no course; or nothing."""
    missing = [name for name in options.needs if not _is_here(name)]
    if missing:
        whose = f"which this Python ({sys.executable}) does not have"
        return f"{options.command} needs {', '.join(missing)}, {whose}; {_environment()}"
    folder = options.course.resolve()
    if options.in_course and not (folder / COURSE_FILE).is_file():
        return f"{folder} is not a course folder: it has no {COURSE_FILE}; go to the folder that has one"
    return ""


def _is_here(package: str) -> bool:
    spec = importlib.util.find_spec(package)
    return spec is not None and spec.origin is not None  # a mere folder of that name has none


def _environment() -> str:
    here = "run: make setup, and then .venv/bin/autograder" if Path("Makefile").is_file() else "see README.md"
    return f"activate the course's environment (conda activate debugging-training), or {here}"


def _foreseen() -> tuple[type[Exception], ...]:
    """Those of the foreseen errors that can have been raised: their modules are loaded."""
    return tuple(getattr(sys.modules[home], name) for home, name in _FORESEEN.items() if home in sys.modules)


def _refuse(sentence: str) -> int:
    print(f"autograder: {sentence}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
