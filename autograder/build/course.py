"""Where the course keeps its things, and how a problem in one of them is told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .. import ASSIGNMENT

CONFIG = "nbgrader_config.py"
TEXT_NAME = re.compile(r"\d\d(-[a-z]+)?_[a-z0-9_]+")


@dataclass(frozen=True)
class Course:
    """The folders of a course below its root."""

    root: Path

    @property
    def solved(self) -> Path:
        """Built and executed notebooks with answers: nbgrader's source folder."""
        return self.root / "solutions" / ASSIGNMENT

    @property
    def released(self) -> Path:
        """Notebooks as students open them: nbgrader's release folder."""
        return self.root / "notebooks" / ASSIGNMENT

    def texts(self) -> list[Path]:
        """The texts written by hand, solutions/NN_name.py, in order."""
        return sorted(p for p in (self.root / "solutions").glob("*.py"))

    def tell(self, path: Path) -> str:
        """A path as messages name it: relative to the root where it lies below it."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)


@dataclass(frozen=True)
class Problem:
    """One thing that a gate refuses: the file, the cell where there is one, and what to mend."""

    file: str
    cell: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}, {self.cell}: {self.text}" if self.cell else f"{self.file}: {self.text}"


class BuildError(Exception):
    """A build that its gates stopped; `problems` says where and why."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, problems)))
