"""What need not be graded again: submissions, notebooks and items, by everything that they hang on.

A submission that is as it was is not even opened. Where the course has changed, a notebook whose cells,
seeds and grading code are as they were keeps its items, but those whose exercise's own code is another.

Entries are made and read by the trusted side alone, below grading/, where no submission
can write; an entry that can't be read counts as missing.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import platform
import re
import tempfile
import time
import zlib
from dataclasses import asdict, dataclass
from functools import cache as once
from pathlib import Path
from typing import Any

import autograder

from ..sandbox.limits import Limits
from .course import Course
from .restore import Restored
from .submissions import Submission
from .task import Graded

PACKAGE = Path(autograder.__file__).parent
# what every verdict hangs on, beside the exercise's own module
SHARED = ("result.py", "text.py", "wire.py", "live.py", "item.py", "kernel.py", "render.py", "probes.py")
SHARED += ("exercises/base.py",)
SHARED_ROOMS = ("runs", "judge", "sandbox")
RUNNERS = tuple(f"grading/{name}.py" for name in ("run", "task", "outputs", "restore", "submissions"))


class Cache:
    """Pickled values in files, by key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Any:
        """The value of a key, or None."""
        path = self._path(key)
        try:
            value = pickle.loads(zlib.decompress(path.read_bytes()))
            os.utime(path)  # it was of use today
            return value
        except (OSError, EOFError, zlib.error, pickle.UnpicklingError, AttributeError, ImportError, ValueError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Store a value; a reader sees all of it or nothing."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, partial = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(zlib.compress(pickle.dumps(value), 1))
            os.replace(partial, path)
        except OSError as error:
            os.unlink(partial)
            raise OSError(error.errno, error.strerror, str(path)) from None

    def drop(self, key: str) -> None:
        """Forget a value, if there is one."""
        self._path(key).unlink(missing_ok=True)

    def prune(self, days: float) -> int:
        """Remove entries that nobody wrote or read for so many days; how many went."""
        limit = time.time() - days * 86_400
        old = [p for p in self.folder.glob("*/*") if p.stat().st_mtime < limit]
        for path in old:
            path.unlink()
        return len(old)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key


def key_of(*parts: object) -> str:
    """A key from plain parts."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def submission_key(course: Course, submission: Submission, secret: bytes, walls: bool) -> str:
    """Key of one whole submission: its files, what they are graded against, and all code that grades."""
    files = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in submission.files.items()}
    stamp = submission.folder / "timestamp.txt"
    files["timestamp.txt"] = stamp.read_text(errors="replace") if stamp.is_file() and not stamp.is_symlink() else ""
    return key_of(submission.student, files, submission.notes, course_digest(course), versions(), secret.hex(), walls)


@once
def course_digest(course: Course) -> str:
    """Digest of the source and release notebooks, and of all code that grades them."""
    texts = [p.read_text() for folder in (course.source, course.release) for p in sorted(folder.glob("*.ipynb"))]
    return key_of(texts, code_of_running(), _digest(_room("exercises")))


@once
def versions() -> str:
    """Versions of what computes: a verdict may hang on any of them."""
    from importlib.metadata import version

    packages = {name: version(name) for name in ("torch", "numpy", "ipython")}
    return key_of(platform.python_version(), platform.machine(), packages)


@once
def software() -> str:
    """Digest of this package and of what computes: workers elsewhere must have the same."""
    return key_of(versions(), _digest(sorted(str(p.relative_to(PACKAGE)) for p in PACKAGE.rglob("*.py"))))


@dataclass(frozen=True)
class Kept:
    """A graded notebook in the cache. judges: digest of the code that judged each item, by grade id."""

    graded: Graded
    judges: dict[str, str]


def notebook_key(restored: Restored, seeds: dict[str, int], walls: bool) -> str:
    """Key of one notebook: its cells as they run, the seeds of the hidden cases, and all code but the exercises'."""
    cells = [(c.cell_type, c.source, c.metadata) for c in restored.notebook.cells]
    shape = (cells, sorted(restored.lessons), restored.notes, restored.shown)
    return key_of(shape, seeds, code_of_running(), versions(), walls, asdict(Limits()))


@once
def code_of(exercise_id: str) -> str:
    """Digest of the code that judges one exercise: its module with what that imports, and what all share."""
    modules = {p.stem: p.read_text() for p in (PACKAGE / "exercises").glob("*.py") if p.name != "__init__.py"}
    own = {name for name, text in modules.items() if f'"{exercise_id}"' in text} or set(modules)
    new = own
    while new:
        lines = [line for name in new for line in re.findall(r"^\s*from \.(\w* import .*)", modules[name], re.M)]
        new = {word for line in lines for word in re.findall(r"\w+", line)} & set(modules) - own
        own |= new
    return _digest([*(f"exercises/{name}.py" for name in sorted(own)), *SHARED, *_room(*SHARED_ROOMS)])


@once
def code_of_running() -> str:
    """Digest of the code that restores and runs a notebook."""
    return _digest([*RUNNERS, *SHARED, *_room(*SHARED_ROOMS)])


def _room(*names: str) -> list[str]:
    return sorted(str(p.relative_to(PACKAGE)) for name in names for p in (PACKAGE / name).glob("*.py"))


def _digest(files: list[str]) -> str:
    return key_of([[name, (PACKAGE / name).read_text()] for name in files if (PACKAGE / name).is_file()])
