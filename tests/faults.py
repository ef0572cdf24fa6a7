"""A class of a few tiny exercises, graded by `autograder grade` in a process of its own, to be disturbed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.exercises import find
from autograder.grading.course import Course

from .example_class import answer, exercise_cells

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENT = "s19-debugging"
NOTEBOOKS = {"01_one": ("1.5a", "2.6"), "02_two": ("2.15",)}  # answers and judges of milliseconds
STUB = "    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION\n"
SLOW = "\nimport time\nprint('a cell that takes its time')\ntime.sleep(0.4)\n"  # so that faults meet a submission
DIES = "\nimport os\nos._exit(3)\n"


def make(root: Path) -> Course:
    """Write and release the course below `root`, with a class that has handed in."""
    source = root / "solutions" / ASSIGNMENT
    source.mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for name, ids in NOTEBOOKS.items():
        nbformat.write(_notebook(ids), source / f"{name}.ipynb")
    words = [sys.executable, "-m", "nbgrader", "generate_assignment", ASSIGNMENT]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    course = Course.at(root)
    hand_in(course, "ada", {i: answer(i) for i in find_ids()})
    hand_in(course, "blaise", {"1.5a": answer("1.5a") + SLOW, "2.6": answer("2.6", "wrong_"), "2.15": answer("2.15")})
    hand_in(course, "carl", {"1.5a": answer("1.5a", "wrong_"), "2.6": answer("2.6") + DIES, "2.15": answer("2.15") + SLOW})
    hand_in(course, "dana", {"2.15": answer("2.15")}, leave_out="01_one")
    hand_in(course, "emmy", {})
    return course


def find_ids() -> list[str]:
    """Ids of the exercises of this course."""
    return [i for ids in NOTEBOOKS.values() for i in ids]


def hand_in(course: Course, student: str, answers: dict[str, str], leave_out: str = "") -> None:
    """Put a student's notebooks, with these answers in their stubs, in the place of what was there."""
    folder = course.submitted / student / course.assignment
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in course.notebooks():
        notebook = course.release_notebook(name)
        for exercise_id, cell in exercise_cells(notebook).items():
            cell.source = answers.get(exercise_id, cell.source)
        if name != leave_out:
            nbformat.write(notebook, folder / f"{name}.ipynb")


def _notebook(ids: tuple[str, ...]) -> nbformat.NotebookNode:
    setup = "import torch\nfrom torch import nn\n\nfrom autograder import check, hint"
    cells = [
        new_markdown_cell("# A lesson", id="lesson"),
        new_code_cell(setup, id="setup", metadata=_meta("setup", locked=True)),
    ]
    for exercise_id in ids:
        exercise, name = find(exercise_id), find(exercise_id).answer
        checks = f'check("{exercise_id}", {name})\n### BEGIN HIDDEN TESTS\ncheck("{exercise_id}", {name}, hidden=True)\n### END HIDDEN TESTS'
        graded = _meta(f"check-{name}", grade=True, locked=True, points=exercise.points)
        cells.append(new_code_cell(f"def {name}(*args):\n{STUB}", id=name, metadata=_meta(name, solution=True)))
        cells.append(new_code_cell(checks, id=f"check-{name}", metadata=graded))
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return new_notebook(cells=cells, metadata=kernel)


def _meta(gid: str, **flags: Any) -> dict:
    base = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {"grade_id": gid, **base, **flags}}


def copy(course: Course, root: Path) -> Course:
    """A copy of a course with all that lies in it."""
    shutil.copytree(course.root, root)
    return Course.at(root)


def grade(course: Course, *words: str, **environment: str) -> subprocess.Popen:
    """Start `autograder grade` in a session of its own, what it prints going to a file."""
    with open(course.root / "printed.txt", "w") as printed:
        return subprocess.Popen(
            [Path(sys.executable).parent / "autograder", "grade", *words],
            cwd=course.root, stdout=printed, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            start_new_session=True, env={**os.environ, "COLUMNS": "160", **environment},
        )  # fmt: skip


def printed(course: Course) -> str:
    """What the last grading printed."""
    return (course.root / "printed.txt").read_text(encoding="utf-8")


def state(course: Course) -> dict[str, Any]:
    """All that grading leaves for people: gradebook, report and pages, without what measures time."""
    report = json.loads((course.home / "report.json").read_text(encoding="utf-8"))
    for student in report["students"]:
        del student["seconds"], student["timing"]
    folders = (course.feedback, course.autograded)
    files = {str(p.relative_to(course.root)): p.read_bytes() for f in folders for p in f.rglob("*") if p.is_file()}
    return {"gradebook": gradebook(course), "report": report, "files": files}


def gradebook(course: Course) -> dict[str, dict]:
    """Every score and comment, by student and cell."""
    with Gradebook(course.db_url, course.course_id) as book:
        return {
            s.student.id: {
                "grades": {g.name: (g.auto_score, g.manual_score, g.needs_manual_grade) for n in s.notebooks for g in n.grades},
                "comments": {c.name: (c.auto_comment, c.manual_comment) for n in s.notebooks for c in n.comments},
            }
            for s in book.assignment_submissions(course.assignment)
        }


@dataclass(frozen=True)
class Seen:
    """A process of a grading. kind: what it does there. born: when, in the kernel's ticks."""

    pid: int
    kind: str
    born: int

    def alive(self) -> bool:
        found = _running(self.pid)
        return found is not None and found[1] == self.born

    def kill(self) -> bool:
        """Kill -9; False when it was gone already."""
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True


# what stands below each other: bubblewrap, its own first process, the template, and for each submission
# one that waits, the submission, and its forks
_BELOW = {"wall": "inner wall", "inner wall": "template", "template": "watcher", "watcher": "submission", "submission": "fork"}


def processes(*roots: tuple[int, str]) -> list[Seen]:
    """The living processes at and below some, given as pid and kind."""
    everyone = {int(entry): _running(int(entry)) for entry in os.listdir("/proc") if entry.isdigit()}
    running = {pid: found for pid, found in everyone.items() if found}
    found, queue = [], list(roots)
    while queue:
        pid, kind = queue.pop(0)
        if pid in running:
            found.append(Seen(pid, kind, running[pid][1]))
            queue += [(p, _kind(p, kind)) for p, (parent, _) in running.items() if parent == pid]
    return found


def _kind(pid: int, parent: str) -> str:
    command = _command(pid)
    if parent in _BELOW:
        return _BELOW[parent]
    if "bwrap" in command:
        return "wall"
    if "resource_tracker" in command:
        return "tracker"
    return "worker" if parent == "forkserver" else "forkserver" if "forkserver" in command else "other"


def _running(pid: int) -> tuple[int, int] | None:
    """(parent's pid, time of birth) of a process that has not ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else (int(fields[1]), int(fields[19]))


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
