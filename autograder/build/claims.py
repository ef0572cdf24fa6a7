"""The claims of the course: read from solutions/claims.yml, looked for in the texts, told in CLAIMS.md.

A code cell shows a claim when it is tagged claim-ID. Exercises name the claims that they serve.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Iterator

import nbformat
import yaml
from nbformat import NotebookNode

from ..exercises import all_exercises
from ..exercises.base import Exercise
from .course import BuildError, Course, Problem
from .execute import result_text
from .text import check_id, plain_code, read_text

CONTRACT = "solutions/claims.yml"
PAGE = "CLAIMS.md"
KINDS = ("control", "exercise", "gpu", "cpu-twin", "prose")
TAG = "claim-"
WIDTH = 90  # characters kept of a printed line


@dataclass(frozen=True)
class Claim:
    """A statement of the course, the number of its notebook, and the control that would refute it."""

    id: str
    notebook: str
    kind: str
    claim: str
    control: str = ""


def read(root: Path) -> list[Claim]:
    """The claims of the course at `root`; none where it keeps no contract. Errors: BuildError."""
    path = root / CONTRACT
    if not path.exists():
        return []
    try:
        claims = [Claim(**entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]
    except (TypeError, yaml.YAMLError) as error:
        raise BuildError([Problem(CONTRACT, "", f"can't be read: {error}")]) from None
    ids = [claim.id for claim in claims]
    found = [Problem(CONTRACT, "", f"claim {c.id} is of no kind {c.kind!r}") for c in claims if c.kind not in KINDS]
    found += [Problem(CONTRACT, "", f"claim {one} is there twice") for one in sorted(set(ids)) if ids.count(one) > 1]
    if found:
        raise BuildError(found)
    return claims


def claims_of(cell: NotebookNode) -> tuple[str, ...]:
    """Ids of the claims that a cell is tagged with."""
    return tuple(tag.removeprefix(TAG) for tag in cell.metadata.get("tags", []) if tag.startswith(TAG))


def problems(root: Path, exercises: Iterable[Exercise] | None = None) -> list[Problem]:
    """Claims that nothing shows, and tags and exercises that name no claim of theirs."""
    claims = read(root)
    if not claims:
        return []
    course = Course(root)
    exercises = list(all_exercises().values() if exercises is None else exercises)
    texts = {path.stem.partition("_")[0]: (course.tell(path), read_text(path)) for path in course.texts()}
    found = [problem for claim in claims for problem in _shown(claim, texts, exercises)]
    home = {claim.id: claim.notebook for claim in claims}
    for number, (file, nb) in texts.items():
        for cell in nb.cells:
            for one in claims_of(cell):
                if home.get(one) != number:
                    text = f"is tagged {TAG}{one}, but " + ("there is no such claim" if one not in home else
                                                            f"that claim belongs to notebook {home[one]}")  # fmt: skip
                    found.append(Problem(file, cell.where, text))
    for exercise in exercises:
        for one in exercise.claims:
            if one not in home:
                found.append(Problem(CONTRACT, "", f"exercise {exercise.id} names claim {one}, which there is not"))
    return found


def _shown(claim: Claim, texts: dict, exercises: list[Exercise]) -> Iterator[Problem]:
    if claim.notebook not in texts:
        yield Problem(CONTRACT, "", f"claim {claim.id}: there is no text {claim.notebook}_name.py")
        return
    file, nb = texts[claim.notebook]
    cells = [cell for cell in nb.cells if claim.id in claims_of(cell)]
    if claim.kind == "prose":
        words = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
        if not re.search(rf"^#+ {re.escape(claim.id)}\b", words, re.MULTILINE):
            yield Problem(file, "", f"claim {claim.id} is prose, and no heading bears its number")
    elif claim.kind == "exercise":
        checked = {check_id(cell) for cell in nb.cells}
        if not any(claim.id in exercise.claims and exercise.id in checked for exercise in exercises):
            yield Problem(file, "", f"claim {claim.id}: no exercise that is checked here names it in `claims`")
    elif not cells:
        yield Problem(file, "", f"claim {claim.id}: no cell is tagged {TAG}{claim.id}")
    if cells and not any(_asserts(cell) for cell in cells):
        yield Problem(file, cells[0].where, f"claim {claim.id}: no cell asserts it")


def _asserts(cell: NotebookNode) -> bool:
    try:
        return any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(plain_code(cell.source))))
    except SyntaxError:
        return False


def page(root: Path) -> str:
    """CLAIMS.md as the claims and the built notebooks of the course at `root` give it."""
    claims = read(root)
    lines = [
        "# Claims",
        "",
        f"Each of the {len(claims)} statements that the course makes, the control that would refute it, where both are",
        "shown, and what was observed there: the first lines that the cell printed when the notebooks were built.",
        "`make build` writes this page; tests/broken/ keeps the ways in which each claim has been seen to fail.",
    ]
    built = {path.stem.partition("_")[0]: path for path in Course(root).solved.glob("*.ipynb")}
    for number, path in sorted(built.items()):
        own = [claim for claim in claims if claim.notebook == number]
        if own:
            nb = nbformat.read(path, as_version=4)
            place = Course(root).tell(path)
            lines += ["", f"## [{path.stem}]({place})"]
            lines += [line for claim in own for line in _entry(claim, nb, place)]
    return "\n".join(lines) + "\n"


def _entry(claim: Claim, nb: NotebookNode, place: str) -> Iterator[str]:
    yield from ("", f"**{claim.id}** {_plain(claim.claim)} ({claim.kind})")
    if claim.control:
        yield from ("", f"*Control:* {_plain(claim.control)}")
    yield ""
    for cell in nb.cells:
        exercise = check_id(cell)
        if claim.id in claims_of(cell):
            yield f"- [{cell.id}]({place}#cell-id={cell.id}) {_observed(cell)}"
        elif exercise is not None and claim.id in all_exercises()[exercise].claims:
            earned = f"{result_text(cell)} of {float(cell.metadata.nbgrader['points'])} points"
            yield f"- [{cell.id}]({place}#cell-id={cell.id}) exercise {exercise}, its solution earns {earned}"
    if claim.kind == "prose":
        yield f"- section {claim.id} of the notebook"


def _observed(cell: NotebookNode) -> str:
    """The first two lines that a cell printed, as code; what differs from run to run is left out."""
    if "nbval-ignore-output" in cell.metadata.get("tags", []):
        return "prints what differs from run to run"
    text = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")
    lines = [" ".join(line.replace("`", "'").split()) for line in text.splitlines() if line.strip()]
    shown = [f"`{line if len(line) <= WIDTH else line[:WIDTH - 1] + '…'}`" for line in lines[:2]]
    return " / ".join(shown) or "prints nothing"


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return re.sub(r"([*_<>|`])", r"\\\1", text)


def stale(root: Path) -> list[Problem]:
    """Whether CLAIMS.md differs from what claims and built notebooks give."""
    path = root / PAGE
    if not read(root) or path.exists() and path.read_text(encoding="utf-8") == page(root):
        return []
    return [Problem(PAGE, "", "is not what claims and notebooks give; run make build")]


def write(root: Path) -> list[Path]:
    """Write CLAIMS.md where it is stale. Returns: the files that changed."""
    if not stale(root):
        return []
    (root / PAGE).write_text(page(root), encoding="utf-8")
    return [root / PAGE]
