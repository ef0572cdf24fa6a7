"""The command `autograder`: each subcommand is a few lines that call the room that does the work."""

from __future__ import annotations

import argparse
import errno
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__

if TYPE_CHECKING:
    from .grading.course import Course
    from .grading.task import StudentResult


def main(argv: list[str] | None = None) -> int:
    """Run a command. Returns its exit code: 0 done, 1 a gate or an item failed, 2 bad input."""
    parser = argparse.ArgumentParser(prog="autograder", description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("--course", type=Path, default=Path.cwd(), help="course folder (default: here)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_build(commands)
    _add_grade(commands)
    _add_verify(commands)
    options = parser.parse_args(argv)
    # nbgrader's own notes to its developers; an instructor can do nothing about them
    warnings.filterwarnings("ignore", module=r"nbgrader\.|sqlalchemy\.")
    try:
        return options.run(options)
    except KeyboardInterrupt:
        print("stopped; what was recorded stays, the same command goes on", file=sys.stderr)
        return 130
    except _foreseen() as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno not in _WAYS_OUT:
            raise
        way_out = f"{_WAYS_OUT[error.errno]} and run the same command again"
        print(f"autograder: {error.filename or 'a file'}: {error.strerror}; {way_out}", file=sys.stderr)
        return 2


_WAYS_OUT = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EFBIG: "allow larger files",
    errno.EROFS: "make the place writable",
    errno.EACCES: "make it yours to write",
    errno.EPERM: "make it yours to write",
}


def _foreseen() -> tuple[type[Exception], ...]:
    """Errors whose text says what is wrong and what to do; any other is a defect of ours."""
    from .build import BuildError
    from .exercises import UnknownExercise
    from .grading.course import CourseError
    from .judge import SecretUnreadable
    from .sandbox import SandboxUnavailable

    return BuildError, UnknownExercise, CourseError, SecretUnreadable, SandboxUnavailable


def _add_build(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("build", help="make the notebooks from their texts in solutions/")
    parser.add_argument("--check", action="store_true", help="build in a scratch folder and compare with what is here")
    parser.add_argument("--if-needed", action="store_true", help="keep notebooks that match their texts, outputs apart")
    parser.set_defaults(run=_build)


def _build(options: argparse.Namespace) -> int:
    from . import build

    return build.main(options.course, options.check, options.if_needed)


def _add_grade(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("grade", help="grade a class: gradebook, feedback, report")
    parser.add_argument("assignment", nargs="?", help="default: the one that is built")
    parser.add_argument("--student", help="grade this student alone")
    parser.add_argument("--workers", type=int, default=0, help="processes that run notebooks (default: one a core)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, to grade on a cluster")
    parser.add_argument("--certificates", type=Path, help="folder with ca.pem, cert.pem and key.pem of that cluster")
    parser.add_argument("--no-sandbox", action="store_true", help="run student code as this user; for code you trust")
    parser.add_argument("--force", action="store_true", help="grade again what has not changed since it was recorded")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors; the report says the rest")
    parser.add_argument("--no-feedback", action="store_true", help="leave the feedback pages out")
    parser.set_defaults(run=_grade)


def _grade(options: argparse.Namespace) -> int:
    from .grading.prepare import prepare

    if not options.scheduler:
        prepare()  # while this process imports what follows
    from rich.console import Console

    from .grading import report
    from .grading.course import Course
    from .grading.engine import grade_class
    from .grading.feedback import write_feedback
    from .grading.progress import followed
    from .grading.workers import Crew

    console = Console(highlight=False, quiet=options.quiet)
    course = Course.at(options.course, options.assignment)
    walls = not options.no_sandbox
    begun = time.monotonic()
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
    report.write_json(results, course.home / "report.json", walls)
    notebooks = sum(r.notebooks for r in results)
    seconds = time.monotonic() - begun
    console.print(f"{notebooks} notebooks in {seconds:.1f} s, {seconds / max(notebooks, 1):.2f} s a notebook")
    unwritten = []
    if not options.no_feedback:
        wanted = [r.student for r in results if not r.failed and (r.fresh or not _has_page(course, r))]
        unwritten = write_feedback(course, wanted, crew.size)
        for student in unwritten:
            console.print(report.plain(f"{student}: no feedback page could be written"))
        console.print(f"feedback: {course.feedback}   report: {course.home / 'report.json'}", soft_wrap=True)
    return 1 if unwritten or any(r.failed for r in results) else 0


def _has_page(course: Course, result: StudentResult) -> bool:
    return (course.feedback / result.student / course.assignment).is_dir()


def _add_verify(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("verify", help="test the exercises: stubs, right and wrong answers, mutants")
    parser.add_argument("exercises", nargs="*", help="ids (default: all)")
    parser.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> int:
    from . import verify

    return verify.main(options.course, options.exercises)


if __name__ == "__main__":
    sys.exit(main())
