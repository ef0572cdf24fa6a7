"""What a grading machine and its course folder have and lack."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..doctor import Finding, disk, package
from ..sandbox import bubblewrap

if TYPE_CHECKING:
    from .course import Course

# packages of build and grading and their oldest versions, as in pyproject.toml
PACKAGES = {"nbgrader": "0.9.5", "sqlalchemy": "2", "nbclient": "0.10.1", "nbconvert": "7.16", "nbformat": "5.10"}
PACKAGES |= {"jupytext": "1.16", "rich": "13", "distributed": "2025.1", "jinja2": "3.1"}


def for_grading(root: Path) -> list[Finding]:
    """What `autograder grade` needs in the course at `root`, and what its tests do."""
    packages = [package(name, oldest) for name, oldest in PACKAGES.items()]
    course = [] if any(finding.stops for finding in packages) else _course(root)
    return [*packages, alembic(), walls(), *course, disk(root, 2.0), chromium()]


def alembic() -> Finding:
    place = shutil.which("alembic")
    if place:
        return Finding("alembic", place)
    here = Path(sys.executable).parent
    way_out = f"nbgrader calls it by name; activate the environment, or: export PATH={here}:$PATH"
    return Finding("alembic", "not on PATH", way_out)


def walls() -> Finding:
    """bubblewrap, tried out with the very walls that student code gets."""
    if not bubblewrap.available():
        install = "Debian and Ubuntu: apt-get install bubblewrap; on Windows use WSL, elsewhere a Linux machine"
        return Finding("bubblewrap", "not installed", install)
    try:
        done = subprocess.run(bubblewrap.command(["-c", ""]), capture_output=True, text=True, timeout=60)
        said = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1] if done.returncode else ""
    except subprocess.TimeoutExpired:
        said = "no answer within a minute"
    if not said:
        return Finding("bubblewrap", "builds its walls here")
    way_out = (
        "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu "
        "kernel.apparmor_restrict_unprivileged_userns=0); a container must be allowed to make namespaces"
    )
    return Finding("bubblewrap", f"installed, but it can't build walls: {said}", way_out)


def chromium() -> Finding:
    place = shutil.which("chromium")
    way_out = "" if place else "only the tests in a browser want it; Debian: apt-get install chromium"
    return Finding("chromium", place or "not installed", way_out, needed=False)


def _course(root: Path) -> list[Finding]:
    """The course folder: built, released, noted in the gradebook, with a secret that is the owner's alone."""
    from .course import Course, CourseError  # with packages that may have been missing

    try:
        course = Course.at(root)
        notebooks = course.notebooks()
        for name in notebooks:
            course.release_notebook(name)
    except CourseError as error:
        what, _, way_out = str(error).partition("; ")
        return [Finding("course", what, way_out or "run: make build")]
    return [Finding("course", f"{course.assignment}, {len(notebooks)} notebooks"), *_grading_folder(course)]


def _grading_folder(course: Course) -> list[Finding]:
    handed_in = len(list(course.submitted.glob(f"*/{course.assignment}")))
    way_out = "" if handed_in else f"put them in {course.submitted}/STUDENT/{course.assignment}/"
    return [_gradebook(course), _secret(course), Finding("submissions", str(handed_in), way_out, needed=False)]


def _gradebook(course: Course) -> Finding:
    from .course import CourseError
    from .record import Recorder

    file = course.db_url.removeprefix("sqlite:///")
    if file != course.db_url and not Path(file).exists():  # which opening it would make
        return Finding("gradebook", "none yet", "run: make build")
    try:
        return Finding("gradebook", f"of this course, {len(Recorder(course).scores())} submissions graded")
    except CourseError as error:
        what, _, way_out = str(error).rpartition("; ")
        return Finding("gradebook", what or str(error), way_out or str(error))


def _secret(course: Course) -> Finding:
    if not course.secret.exists():
        return Finding("secret", "none yet; the first grading draws one")
    open_to_others = course.secret.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    way_out = f"run: chmod 600 {course.secret}" if open_to_others else ""
    return Finding("secret", "others may read it" if open_to_others else "the owner's alone", way_out)
