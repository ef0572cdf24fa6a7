"""What need not be judged again: items by everything that their verdicts hang on.

Entries are made and read by the trusted side alone, below grading/, where no submission
can write; an entry that can't be read counts as missing.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import platform
import tempfile
import time
from functools import cache as once
from pathlib import Path
from typing import Any

import autograder

from .course import Course
from .submissions import Submission

PACKAGE = Path(autograder.__file__).parent
# what every verdict hangs on, beside the exercise's own module
SHARED = ("result.py", "wire.py", "live.py", "item.py", "check.py", "render.py", "probes.py", "exercises/base.py")
SHARED_ROOMS = ("runs", "judge", "sandbox")
RUNNERS = ("grading/run.py", "grading/restore.py", "grading/submissions.py")


class Cache:
    """Pickled values in files, by key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Any:
        """The value of a key, or None."""
        try:
            with open(self._path(key), "rb") as file:
                return pickle.load(file)
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, ValueError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Store a value; a reader sees all of it or nothing."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, partial = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                pickle.dump(value, file)
            os.replace(partial, path)
        except OSError as error:
            os.unlink(partial)
            raise OSError(error.errno, error.strerror, str(path)) from None

    def drop(self, key: str) -> None:
        """Forget a value, if there is one."""
        self._path(key).unlink(missing_ok=True)

    def prune(self, days: float) -> int:
        """Remove entries that were not written for so many days; how many went."""
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
    exercises = sorted(p.stem for p in (PACKAGE / "exercises").glob("*.py"))
    return key_of(texts, code_of_running(), [code_of(e) for e in exercises])


@once
def versions() -> str:
    """Versions of what computes: a verdict may hang on any of them."""
    from importlib.metadata import version

    packages = {name: version(name) for name in ("torch", "numpy", "ipython")}
    return key_of(platform.python_version(), platform.machine(), packages)


@once
def code_of(exercise_module: str) -> str:
    """Digest of the code that judges one exercise: its module, its private helpers, what all share."""
    own = [f"exercises/{exercise_module}.py"]
    own += sorted(f"exercises/{p.name}" for p in (PACKAGE / "exercises").glob("_*.py") if p.name != "__init__.py")
    return _digest([*own, *SHARED, *_room(*SHARED_ROOMS)])


@once
def code_of_running() -> str:
    """Digest of the code that restores and runs a notebook."""
    return _digest([*RUNNERS, *SHARED, *_room(*SHARED_ROOMS)])


def _room(*names: str) -> list[str]:
    return sorted(str(p.relative_to(PACKAGE)) for name in names for p in (PACKAGE / name).glob("*.py"))


def _digest(files: list[str]) -> str:
    return key_of([[name, (PACKAGE / name).read_text()] for name in files if (PACKAGE / name).is_file()])
