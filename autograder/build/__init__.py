"""From the texts in solutions/ to executed solutions and to the notebooks that students open.

    texts --gates--> notebooks --execute--> solutions/s19-debugging/
          --stock nbgrader generate_assignment, gates--> notebooks/s19-debugging/

Everything is made in a scratch folder first; the course changes only when every gate is passed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from sqlalchemy import NullPool, create_engine
from traitlets.config.loader import PyFileConfigLoader

from .. import database
from ..exercises import find as find_exercise
from . import claims
from .compare import differences
from .course import ASSIGNMENT, CONFIG, TEXT_NAME, BuildError, Course, Problem
from .execute import execute_all, run_problems
from .exercise_gates import course_problems
from .gates import text_problems
from .release import generate_assignment, release_problems
from .rerun import keep_unstable
from .text import Find, fill, read_text

__all__ = ["ASSIGNMENT", "BuildError", "Course", "Problem", "build", "check_built", "main", "register"]


def build(root: Path, find: Find = find_exercise) -> list[Path]:
    """Build all notebooks of the course at `root`, executed, and put them in place.

    Returns: the notebooks that changed. Errors: BuildError; nothing is changed then.
    """
    course = Course(root)
    _no_strangers(course)
    with tempfile.TemporaryDirectory() as folder:
        scratch = _make(course, Path(folder), find, run=True)
        changed = [*_install(scratch.solved, course.solved), *_install(scratch.released, course.released)]
    return [*changed, *claims.write(root)]


def check_built(root: Path, find: Find = find_exercise) -> list[Problem]:
    """How the notebooks in place differ from what their texts give, outputs apart; runs no cell.

    Errors: BuildError where a text does not pass the gates.
    """
    course = Course(root)
    _no_strangers(course)
    with tempfile.TemporaryDirectory() as folder:
        scratch = _make(course, Path(folder), find, run=False)
        return [*differences(scratch, course), *claims.stale(root)]


def register(root: Path) -> str:
    """Note cells and points of the solved notebooks in the course's gradebook, for stock nbgrader.

    Returns: an empty string, or why a gradebook with submissions keeps the earlier release.
    Errors: BuildError where the gradebook can't be opened or nbgrader fails for another reason.
    """
    url = _gradebook(root)
    with tempfile.TemporaryDirectory() as folder:
        scratch = _scratch(Course(root), Path(folder))
        shutil.copytree(Course(root).solved, scratch.solved, dirs_exist_ok=True, ignore=_not_notebooks)
        try:
            generate_assignment(scratch, url)
        except BuildError as error:
            if "submissions associated" in str(error):
                return f"{database.shown(url)} holds submissions to an earlier release and keeps that release"
            raise
    return ""


def _gradebook(root: Path) -> str:
    """URL of the course's gradebook, which can be opened. Errors: BuildError."""
    url = database.db_url(PyFileConfigLoader(CONFIG, path=str(root)).load_config(), root)
    try:
        create_engine(url, poolclass=NullPool).connect().close()
    except database.ERRORS as error:
        raise BuildError([Problem(CONFIG, "", database.why_not(url, error))]) from None
    return url


def _make(course: Course, folder: Path, find: Find, run: bool) -> Course:
    """Make the whole course in a scratch folder. Errors: BuildError."""
    notebooks = _read(course, find)
    if run:
        stopped = execute_all(notebooks.values())
        _refuse([p for (file, nb), why in zip(notebooks.items(), stopped) for p in run_problems(nb, why, file)])
        for file, nb in notebooks.items():
            keep_unstable(nb, course.solved / f"{Path(file).stem}.ipynb")
    scratch = _scratch(course, folder)
    for file, nb in notebooks.items():
        _write(nb, scratch.solved / f"{Path(file).stem}.ipynb")
    generate_assignment(scratch, f"sqlite:///{folder}/gradebook.db")
    _refuse([p for file, nb in notebooks.items() for p in _released_problems(scratch, file, nb)])
    return scratch


def _read(course: Course, find: Find) -> dict[str, NotebookNode]:
    """Each text as a filled notebook, by the name that messages use. Errors: BuildError."""
    texts = course.texts()
    if not texts:
        raise BuildError([Problem("solutions", "", "there is no text NN_name.py to build from")])
    _refuse(
        Problem(course.tell(path), "", "a text is named NN_name.py, in lower case")
        for path in texts
        if not TEXT_NAME.fullmatch(path.stem)
    )
    read = {course.tell(path): read_text(path) for path in texts}
    _refuse([p for file, nb in read.items() for p in text_problems(nb, file, find)] + course_problems(read))
    return {file: fill(nb, find) for file, nb in read.items()}


def _released_problems(scratch: Course, file: str, solved: NotebookNode) -> list[Problem]:
    path = scratch.released / f"{Path(file).stem}.ipynb"
    if not path.is_file():
        return [Problem(scratch.tell(path), "", "nbgrader made no notebook of it")]
    return release_problems(solved, nbformat.read(path, as_version=4), scratch.tell(path))


def _refuse(problems: object) -> None:
    found = list(problems)
    if found:
        raise BuildError(found)


def _scratch(course: Course, folder: Path) -> Course:
    """An empty course with the same nbgrader_config.py."""
    scratch = Course(folder.resolve() / "course")
    scratch.solved.mkdir(parents=True)
    shutil.copy(course.root / CONFIG, scratch.root / CONFIG)
    return scratch


def _write(nb: NotebookNode, path: Path) -> None:
    nbformat.validate(nb)
    path.write_text(nbformat.writes(nb, version=4).rstrip("\n") + "\n", encoding="utf-8")


def _not_notebooks(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".ipynb")]


def _no_strangers(course: Course) -> None:
    """nbgrader copies whatever lies beside a notebook to students: nothing else may lie there."""
    _refuse(
        Problem(course.tell(path), "", "only built notebooks may lie in this folder; nbgrader hands out the rest")
        for folder in (course.solved, course.released)
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.suffix != ".ipynb" and path.name != ".ipynb_checkpoints"
    )


def _install(made: Path, place: Path) -> list[Path]:
    """Put made notebooks in place and remove those that no text makes any more."""
    place.mkdir(parents=True, exist_ok=True)
    changed = []
    for path in sorted(place.glob("*.ipynb")):
        if not (made / path.name).exists():
            path.unlink()
            changed.append(path)
    for path in sorted(made.glob("*.ipynb")):
        target = place / path.name
        if not target.exists() or target.read_bytes() != path.read_bytes():
            shutil.copyfile(path, target)
            changed.append(target)
    return changed


def main(root: Path, check: bool = False, if_needed: bool = False) -> int:
    """Build the course at `root`, or with `check` say what a build would change; prints what it did.

    if_needed: take notebooks that match their texts as they are, and only note them in the gradebook.
    Returns: 0 when all is built or nothing differs, 1 when a gate refused something.
    """
    root = Path(root).resolve()
    try:
        if check:
            problems = check_built(root)
            print(*problems, sep="\n", file=sys.stderr) if problems else print("nothing differs")
            return 1 if problems else 0
        changed = [] if if_needed and not check_built(root) else build(root)
        note = register(root)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    print(*([f"changed {Course(root).tell(path)}" for path in changed] or ["nothing changed"]), sep="\n")
    if note:
        print(note)
    return 0
