"""What students get: one folder and the same as a zip, which need nothing else of the course.

    grading/release/s19-debugging/       notebooks, the package without the rooms of staff, environment, README
    grading/release/s19-debugging.zip    the same bytes for the same content, whenever it is made
"""

from __future__ import annotations

import shutil
import tomllib
import zipfile
from pathlib import Path

import nbformat

from .course import ASSIGNMENT, BuildError, Course, Problem
from .leaks import leaks
from .release import release_problems

PACKAGE = Path(__file__).resolve().parents[1]
STAFF = ("build", "grading", "judge", "sandbox", "verify", "database.py", "nbgrader_plugin.py")
COMMANDS = ("__init__.py", "doctor.py", "submit.py")
BESIDE = ("LICENSE", "LICENSE-text")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold


def hand_out(root: Path) -> tuple[Path, Path]:
    """Make folder and zip of the course at `root`. Returns both.

    Errors: BuildError where a notebook is missing or something shows an answer; nothing is changed then.
    """
    course = Course(Path(root).resolve())
    place = course.root / "grading" / "release"
    made = place / ".partial" / ASSIGNMENT
    _refuse(_notebook_problems(course))
    shutil.rmtree(made.parent, ignore_errors=True)
    made.mkdir(parents=True)
    try:
        _fill(course, made)
        _refuse(leaks(course, made))
        archive = _zip(made)
        folder = place / ASSIGNMENT
        if folder.exists():
            shutil.rmtree(folder)
        return made.rename(folder), archive.replace(place / archive.name)
    finally:
        shutil.rmtree(made.parent, ignore_errors=True)


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise BuildError(problems)


def _notebook_problems(course: Course) -> list[Problem]:
    """Why the released notebooks are not fit to be handed out."""
    solved = {path.name: path for path in sorted(course.solved.glob("*.ipynb"))}
    released = {path.name: path for path in sorted(course.released.glob("*.ipynb"))}
    odd = sorted(solved.keys() ^ released.keys()) or ([] if solved else ["every notebook"])
    problems = [Problem(course.tell(course.released), name, "is missing or left over; run: make build") for name in odd]
    for name in solved.keys() & released.keys():
        pair = (nbformat.read(path, as_version=4) for path in (solved[name], released[name]))
        problems += release_problems(*pair, course.tell(released[name]))
    return problems


def _fill(course: Course, folder: Path) -> None:
    """Write all that students need."""
    for path in course.released.glob("*.ipynb"):
        shutil.copyfile(path, folder / path.name)
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=_of_staff, copy_function=shutil.copyfile)
    shutil.copyfile(Path(__file__).with_name("students.md"), folder / "README.md")
    for name in BESIDE:
        shutil.copyfile(course.root / name, folder / name)
    lines = (course.root / "environment.yml").read_text(encoding="utf-8").splitlines()
    _write(folder / "environment.yml", [line for line in lines if not line.startswith("#")])
    project = tomllib.loads((course.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    _write(folder / "requirements.txt", project["dependencies"])


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _of_staff(folder: str, names: list[str]) -> set[str]:
    """What of a folder of the package students do not get."""
    hidden = {name for name in names if name == "__pycache__" or name.startswith(".")}
    if Path(folder) == PACKAGE:
        hidden |= {name for name in names if name in STAFF}
    if Path(folder) == PACKAGE / "commands":
        hidden |= {name for name in names if name not in COMMANDS}
    return hidden


def _zip(folder: Path) -> Path:
    """Zip a folder beside it: no times, owners or order of this machine."""
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            entry = zipfile.ZipInfo(f"{folder.name}/{file.relative_to(folder).as_posix()}", EPOCH)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    return path
