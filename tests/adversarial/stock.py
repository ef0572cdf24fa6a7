"""The same submissions graded by stock nbgrader, in a course without our configuration."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from . import course as small
from .rows import Row

CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "stock"\nc.ExecutePreprocessor.timeout = 12\nc.Execute.timeout = 12\n'
# Kernels of the stock course know the small course's exercises, as if they were in the package.
STARTUP = "import sys\nsys.path.insert(0, {root!r})\nfrom tests.adversarial.course import registered\n_course = registered()\n_course.__enter__()\ndel sys.path[0]\n"


def grade(folder: Path, rows: list) -> dict[str, dict[str, float] | str]:
    """Marks by exercise id, or why there are none, by student: for the rows that are marked for it.

    Student code runs as this user here, so only rows that do no harm are marked.
    """
    root = folder / "stock"
    startup = folder / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text(STARTUP.format(root=str(small.ROOT)))
    os.environ["IPYTHONDIR"] = str(folder / "ipython")
    with small.registered():
        small.make(root, config=CONFIG)
        chosen = [o.row for o in rows if o.row.stock]
        for row in chosen:
            if row.before:
                _hand_in(root, row, row.before)
                _autograde(root, row.student)
            _hand_in(root, row)
        return {row.student: _autograde(root, row.student) for row in chosen}


def _hand_in(root: Path, row: Row, change: object = None) -> None:
    draft = row.draft(root / "release" / small.ASSIGNMENT / f"{small.NOTEBOOK}.ipynb", change, port="9")
    draft.write(root / "submitted" / row.student / small.ASSIGNMENT)


def _autograde(root: Path, student: str) -> dict[str, float] | str:
    """nbgrader's own command on one student, who then costs the others nothing."""
    with contextlib.suppress(FileNotFoundError):
        (root / "autograded" / student / small.ASSIGNMENT / "timestamp.txt").unlink()
    command = [Path(sys.executable).parent / "nbgrader", "autograde", small.ASSIGNMENT, "--force", f"--student={json.dumps(student)}"]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment, timeout=180)
    with Gradebook(f"sqlite:///{root}/gradebook.db", "stock") as gradebook:
        try:
            grades = [g for n in gradebook.find_submission(small.ASSIGNMENT, student).notebooks for g in n.grades]
        except MissingEntry:
            return "no score"
        marks = {g.name.removeprefix("check-").replace("-", "."): g.score for g in grades}
    return {"failed": 1.0, **marks} if done.returncode else marks


def gained(row: Row, marks: dict | str) -> bool:
    """Whether a hostile row has marks that it did not earn."""
    return type(marks) is dict and any(marks.get(i, 0) > 0 for i, wanted in row.want.items() if "right" not in wanted)


def lost(row: Row, marks: dict | str) -> bool:
    """Whether an awkward row has other marks than it earned, or none."""
    if type(marks) is str or "failed" in marks:
        return True
    return any((marks.get(i, 0) >= 1) != (wanted == "right") for i, wanted in row.want.items())


def said(marks: dict | str | None) -> str:
    """Stock's marks in words."""
    if not marks:
        return ""
    return marks if type(marks) is str else ", ".join(f"{i} {mark:g}" for i, mark in marks.items())
