"""A course folder: where its notebooks, submissions and gradebook lie."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

CONFIG = "nbgrader_config.py"


class CourseError(RuntimeError):
    """A course that can't be graded as it is; one sentence that names the input and the way out."""


@dataclass(frozen=True)
class Course:
    """The paths that nbgrader_config.py names, made absolute."""

    root: Path
    assignment: str
    config: Config = field(hash=False, compare=False)

    @classmethod
    def at(cls, root: Path, assignment: str | None = None) -> Course:
        """Read the course in `root`. Errors: CourseError when it is not one, or not built."""
        root = Path(root).resolve()
        if not (root / CONFIG).is_file():
            raise CourseError(f"{root} is not a course folder: it has no {CONFIG}; go to the folder that has one")
        config = PyFileConfigLoader(CONFIG, path=str(root)).load_config()
        source = root / config.CourseDirectory.get("source_directory", "source")
        built = sorted(p.name for p in source.iterdir() if p.is_dir()) if source.is_dir() else []
        if not built:
            raise CourseError(f"{source} holds no built assignment; run: make build")
        chosen = assignment or built[0]
        if chosen not in built:
            raise CourseError(f"there is no assignment {chosen!r} in {source}; there is {', '.join(built)}")
        course = cls(root, chosen, config)
        if not course.notebooks():
            raise CourseError(f"{course.source} holds no notebook; run: make build")
        return course

    def _path(self, name: str, default: str) -> Path:
        return self.root / self.config.CourseDirectory.get(name, default)

    @property
    def source(self) -> Path:
        return self._path("source_directory", "source") / self.assignment

    @property
    def release(self) -> Path:
        return self._path("release_directory", "release") / self.assignment

    @property
    def submitted(self) -> Path:
        return self._path("submitted_directory", "submitted")

    @property
    def autograded(self) -> Path:
        return self._path("autograded_directory", "autograded")

    @property
    def feedback(self) -> Path:
        return self._path("feedback_directory", "feedback")

    @property
    def home(self) -> Path:
        """Where grading keeps what it makes: the parent of the submissions."""
        return self.submitted.parent

    @property
    def secret(self) -> Path:
        return self.home / "secret"

    @property
    def db_url(self) -> str:
        from ..database import db_url  # sqlalchemy comes with it, which a worker can do without

        return db_url(self.config, self.root)

    @property
    def course_id(self) -> str:
        return self.config.CourseDirectory.get("course_id", "")

    def notebooks(self) -> list[str]:
        """Names of the assignment's notebooks, in order."""
        return sorted(p.stem for p in self.source.glob("*.ipynb"))

    def source_notebook(self, name: str) -> nbformat.NotebookNode:
        """The built notebook with answers and hidden checks."""
        return nbformat.read(self.source / f"{name}.ipynb", as_version=4)

    def release_notebook(self, name: str) -> nbformat.NotebookNode:
        """The notebook that students got. Errors: CourseError when it was not built."""
        path = self.release / f"{name}.ipynb"
        if not path.is_file():
            raise CourseError(f"{path} is missing; run: make build")
        return nbformat.read(path, as_version=4)
