"""From solved notebooks to what students open: stock `nbgrader generate_assignment`, then gates."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from nbformat import NotebookNode

from . import delimiters
from .course import ASSIGNMENT, CONFIG, BuildError, Course, Problem
from .text import grader

STUB = "raise NotImplementedError()"


def generate_assignment(course: Course, db_url: str) -> None:
    """Run stock nbgrader on a scratch course's solved notebooks; it fills the folder of released ones.

    db_url: the gradebook in which nbgrader notes cells and points; it goes into the scratch course's
    configuration, since other users may read a command line.
    Errors: BuildError with nbgrader's last words.
    """
    with open(course.root / CONFIG, "a", encoding="utf-8") as file:
        for name, value in (("root", str(course.root)), ("db_url", db_url)):
            file.write(f"\nget_config().CourseDirectory.{name} = {value!r}\n")
    folder = str(Path(sys.executable).parent)  # nbgrader calls alembic by name
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", ASSIGNMENT, "--force"],
        cwd=course.root,
        env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        words = "\n".join((done.stdout + done.stderr).strip().splitlines()[-40:])
        raise BuildError([Problem(f"solutions/{ASSIGNMENT}", "", f"nbgrader generate_assignment failed:\n{words}")])


def release_problems(solved: NotebookNode, released: NotebookNode, file: str) -> list[Problem]:
    """What a student notebook must not hold: answers, hidden tests, outputs; and a stub that answers.

    solved: the notebook with answers that it comes from.
    """
    shown = {squeeze(line) for cell in solved.cells for line in delimiters.outside(cell.source)}
    secret = {
        squeeze(line): kind
        for cell in solved.cells
        for kind in ("solution", "hidden tests")
        for block in delimiters.regions(cell.source, kind)
        for line in block
        if telling(line) and squeeze(line) not in shown
    }
    problems = []
    for position, cell in enumerate(released.cells, 1):
        name = f"cell {grader(cell).get('grade_id') or position!r}"
        problems += [Problem(file, name, text) for text in _leaks(cell, secret)]
    return problems + _shown_answers(solved, file)


def _leaks(cell: NotebookNode, secret: dict[str, str]) -> list[str]:
    found = []
    for line in all_lines(cell):
        kind = secret.get(squeeze(line))
        if kind:
            found.append(f"shows a line of a {kind} block: {line.strip()!r}")
        elif any(word in line for text in delimiters.EXACT for word in [text.removeprefix("### ")]):
            found.append(f"shows a delimiter: {line.strip()!r}")
        elif "hidden=True" in line:
            found.append(f"shows a hidden check: {line.strip()!r}")
    if cell.get("outputs") or cell.get("execution_count") is not None:
        found.append("has stored outputs; what students open has none")
    if grader(cell).get("solution") is True and STUB not in cell.source:
        found.append(f"is a stub without {STUB!r}; does it show the answer?")
    return found


def all_lines(cell: NotebookNode) -> list[str]:
    texts = [cell.source]
    for output in cell.get("outputs", []):
        texts += [output.get("text", ""), *map(str, output.get("data", {}).values())]
    return [line for text in texts for line in text.split("\n")]


def squeeze(line: str) -> str:
    """A line without spaces, so that layout hides nothing."""
    return "".join(line.split())


def telling(line: str) -> bool:
    """Whether a line can tell anything: not blank, no bracket alone, no lone keyword."""
    return len(squeeze(line)) > 5 and squeeze(line) not in ("return", "else:", "finally:", "continue", "break")


def _shown_answers(solved: NotebookNode, file: str) -> list[Problem]:
    """A whole solution of three telling lines or more that stands in a lesson cell as well."""
    lessons = [
        (position, "\n".join(squeeze(line) for line in delimiters.outside(cell.source) if line.strip()))
        for position, cell in enumerate(solved.cells, 1)
    ]
    problems = []
    for cell in solved.cells:
        for block in delimiters.regions(cell.source, "solution"):
            lines = [squeeze(line) for line in block if line.strip()]
            if len([line for line in block if telling(line)]) < 3:
                continue
            problems += [
                Problem(file, f"cell {position}", f"shows the whole solution of {grader(cell).get('grade_id')!r}")
                for position, text in lessons
                if "\n".join(lines) in text
            ]
    return problems
