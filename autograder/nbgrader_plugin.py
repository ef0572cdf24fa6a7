"""Preprocessors that stock nbgrader is given through nbgrader_config.py; nothing is patched.

`Restore` opens the sanitizing list, `Judge` stands in the place of nbgrader's Execute, and
`RecordOutcomes` follows SaveAutoGrades. `autograder grade` takes the same three.
"""

from __future__ import annotations

import atexit
import contextlib
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool

from .grading.course import Course
from .grading.restore import Restored, grade_id, restore
from .judge import course_secret, seed_for

if TYPE_CHECKING:
    from .sandbox import Sandbox

Result = tuple[NotebookNode, ResourcesDict]


class Restore(NbGraderPreprocessor):
    """Bring a submission back to the shape of its source, before nbgrader reads it."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Result:
        restored = _restored(nb, resources)
        restored.notebook.metadata["autograder"] = {"restored": restored.notes}
        return restored.notebook, resources


class Judge(NbGraderPreprocessor):
    """Run student cells in the sandbox and graded cells in the judge, in place of a kernel."""

    sandbox = Bool(True, help="Keep student code inside bubblewrap; False runs it as this user.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Result:
        from .grading.run import grade_notebook

        names = resources["nbgrader"]
        secret = course_secret(Course.at(Path.cwd(), names["assignment"]).secret)
        restored = _restored(nb, resources)
        # what Restore found; by now the checks hold their hidden half, which is no change of the student's
        restored.notes = nb.metadata.get("autograder", {}).get("restored", restored.notes)
        graded = grade_notebook(
            restored, _living_sandbox(self.sandbox), lambda exercise_id: seed_for(secret, names["student"], exercise_id)
        )
        resources["autograder"] = {"comments": comments(graded.items, graded.notebook)}
        return graded.notebook, resources


class RecordOutcomes(NbGraderPreprocessor):
    """Write each item's outcome into the gradebook, as the comment on its solution cell."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Result:
        names = resources["nbgrader"]
        told = resources.get("autograder", {})
        opened = told.get("gradebook")  # autograder's own road has it open, in a transaction
        with contextlib.nullcontext(opened) if opened else Gradebook(names["db_url"]) as gradebook:
            for gid, text in told.get("comments", {}).items():
                try:
                    comment = gradebook.find_comment(gid, names["notebook"], names["assignment"], names["student"])
                except MissingEntry:
                    continue  # a graded cell with no solution cell before it
                comment.auto_comment = text
            gradebook.db.commit()
        return nb, resources


def comments(items: dict, notebook: NotebookNode) -> dict[str, str]:
    """Outcome sentences by the grade id of the solution cell that precedes each check."""
    texts: dict[str, str] = {}
    solution = None
    for cell in notebook.cells:
        gid = grade_id(cell)
        if gid and cell.metadata.nbgrader.get("solution"):
            solution = gid
        if gid in items and solution:
            item = items[gid]
            notes = " ".join(item.notes)
            said = f"{item.id} {item.title}: {item.outcome}, {item.mark:g} of {item.points:g} points. {notes}".strip()
            said = said.replace("\0", "\N{REPLACEMENT CHARACTER}")  # PostgreSQL's texts can't hold it
            texts[solution] = f"{texts[solution]}\n{said}" if solution in texts else said
    return texts


def _restored(nb: NotebookNode, resources: ResourcesDict) -> Restored:
    names = resources["nbgrader"]
    course = Course.at(Path.cwd(), names["assignment"])
    return restore(nb, *_originals(course.root, course.assignment, names["notebook"]))


@cache
def _originals(root: Path, assignment: str, name: str) -> tuple[NotebookNode, NotebookNode]:
    course = Course.at(root, assignment)
    return course.source_notebook(name), course.release_notebook(name)


def _living_sandbox(walls: bool) -> Sandbox:
    if not _shared_sandbox(walls).alive:
        _shared_sandbox.cache_clear()
    return _shared_sandbox(walls)


@cache
def _shared_sandbox(walls: bool) -> Sandbox:
    """One warm template for all notebooks of this process."""
    from .sandbox import Sandbox

    sandbox = Sandbox(walls=walls and os.environ.get("AUTOGRADER_NO_SANDBOX") != "1")
    atexit.register(sandbox.close)
    return sandbox
