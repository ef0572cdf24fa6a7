"""Runs a notebook's text in one process and breaks its claims, each in a fork of its own.

    ls solutions/02_*.py | python -m tests.break_claims

tests/broken/NN.py holds the breaks: BROKEN = {claim: {what is broken: [(old text, new text), ...]}}.
A break changes the experiment, never an assert, so that the claim is false; its cells must then fail.
An exception's class among the swaps says that this, and not AssertionError, is how they fail.
"""

from __future__ import annotations

import ast
import io
import json
import linecache
import os
import runpy
import signal
import sys
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from autograder.build.claims import claims_of
from autograder.build.text import grader, plain_code, read_text

SECONDS = 120
FOLDER = Path(__file__).resolve().parent / "broken"


@dataclass(frozen=True)
class Cell:
    """A code cell: its id, the claims it is tagged with, and its Python."""

    id: str
    claims: tuple[str, ...]
    code: str


@dataclass(frozen=True)
class Break:
    """One way to make a claim false: cells with their new code, from the first changed to the claim's last."""

    claim: str
    what: str
    first: int
    cells: tuple[Cell, ...]
    expected: str


def code_cells(path: Path) -> list[Cell]:
    """The cells that a reader runs, without checks (they define nothing) and widgets (they need a browser)."""
    return [
        Cell(cell.id, claims_of(cell), plain_code(cell.source))
        for cell in read_text(path).cells
        if cell.cell_type == "code" and not grader(cell).get("grade") and "widget" not in cell.metadata.get("tags", [])
    ]


def kept_breaks(path: Path, name: str = "BROKEN", folder: Path = FOLDER) -> dict:
    """What tests/broken keeps for a notebook's text: BROKEN, or LEFT_OUT with the reasons."""
    kept = folder / f"{path.stem.partition('_')[0]}.py"
    return runpy.run_path(str(kept)).get(name, {}) if kept.exists() else {}


def prepare(cells: list[Cell], claim: str, what: str, entries: list) -> Break:
    """Make the swaps of one break. Errors: ValueError where an old text is not in just one place."""
    own = [i for i, cell in enumerate(cells) if claim in cell.claims]
    code = {i: cells[i].code for i in own}
    expected = [entry.__name__ for entry in entries if isinstance(entry, type)] or ["AssertionError"]
    changed = []
    for old, new in (entry for entry in entries if not isinstance(entry, type)):
        places = [i for i in own for _ in range(code[i].count(old))]
        if len(places) != 1:
            raise ValueError(f"claim {claim}, {what!r}: its cells hold {old!r} {len(places)} times, not once")
        if _in_assert(code[places[0]], old):
            raise ValueError(f"claim {claim}, {what!r}: {old!r} lies in an assert; break the experiment instead")
        code[places[0]] = code[places[0]].replace(old, new)
        changed.append(places[0])
    broken = [Cell(c.id, c.claims, code.get(i, c.code)) for i, c in enumerate(cells)]
    return Break(claim, what, min(changed), tuple(broken[min(changed) : own[-1] + 1]), expected[0])


def _in_assert(code: str, text: str) -> bool:
    first = code[: code.index(text)].count("\n") + 1
    last = first + text.count("\n")
    asserts = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Assert)]
    return any(node.lineno <= last and first <= node.end_lineno for node in asserts)


def run_cell(cell: Cell, names: dict, number: int = 0) -> None:
    """Execute a cell as a kernel would, its output thrown away; its lines can be found by tracebacks."""
    file = f"<cell {cell.id}.{number}>"
    linecache.cache[file] = (len(cell.code), None, cell.code.splitlines(True), file)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        exec(compile(cell.code, file, "exec"), names)


def outcome(broken: Break, names: dict) -> str:
    """Empty where the claim's cells fail as they should, else what happened."""
    for cell in broken.cells:
        try:
            run_cell(cell, names, 1)
        except BaseException as error:
            seen = type(error).__name__
            line = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<cell")]
            place = f"cell {cell.id}, line {line[0] if line else '?'}: {seen}: {str(error)[:200]}"
            if broken.claim not in cell.claims:
                return f"fails in a cell that is not the claim's: {place}"
            if os.environ.get("SHOW_BREAKS"):
                print(f"{broken.claim:5} {broken.what:60.60} {time.process_time():6.2f} {place}", file=sys.__stderr__)
            return "" if seen == broken.expected else f"fails with another error: {place}"
    return "nothing fails"


class Forks:
    """Outcomes of breaks in forks, two at a time, which die with everything that they broke."""

    def __init__(self) -> None:
        self.results: list[list[str]] = []
        self._running: list[tuple[Break, int, int]] = []

    def start(self, broken: Break, names: dict) -> None:
        """Run a break's cells in a fork of this process as it is now."""
        if len(self._running) == 2:
            self._end_one()
        ours, theirs = os.pipe()
        child = os.fork()
        if not child:
            try:
                signal.alarm(SECONDS)  # ends a break that hangs
                os.close(ours)
                os.write(theirs, outcome(broken, names).encode()[:4000] or b"\0")
            finally:
                os._exit(0)
        os.close(theirs)
        self._running.append((broken, ours, child))

    def end(self) -> list[list[str]]:
        """Wait for all. Returns [claim, what, outcome] of each."""
        while self._running:
            self._end_one()
        return self.results

    def _end_one(self) -> None:
        broken, ours, child = self._running.pop(0)
        with os.fdopen(ours, "rb") as pipe:
            said = pipe.read().decode(errors="replace")
        os.waitpid(child, 0)
        self.results.append([broken.claim, broken.what, {"": "the process died", "\0": ""}.get(said, said)])


def run(path: Path, folder: Path = FOLDER) -> dict:
    """{"failed": why the notebook itself fails, "breaks": [[claim, what, outcome], ...]}; empty words are good."""
    cells = code_cells(path)
    breaks, forks, failed = [], Forks(), ""
    for claim, entries in kept_breaks(path, folder=folder).items():
        for what, swaps in entries.items():
            try:
                breaks.append(prepare(cells, claim, what, swaps))
            except ValueError as error:
                forks.results.append([claim, what, str(error)])
    names = {"__name__": "__main__"}
    for i, cell in enumerate(cells):
        for broken in (b for b in breaks if b.first == i):
            forks.start(broken, names)
        try:
            run_cell(cell, names)
        except Exception as error:
            failed = f"cell {cell.id}: {type(error).__name__}: {str(error)[:500]}"
            break
    return {"failed": failed, "breaks": forks.end()}


def _warm_up() -> None:
    """What torch imports at its first update, so that no fork pays for it."""
    import torch

    weight = torch.nn.Parameter(torch.ones(1))
    weight.sum().backward()
    torch.optim.SGD([weight]).step()


def main() -> None:
    """Answer each line on standard input, a path (and the breaks' folder), with one of JSON; a notebook runs in a fork of its own.

    So torch is imported once for all. Figures are drawn and never rendered.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.show = lambda *words, **options: pyplot.close("all")
    _warm_up()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            print(json.dumps(run(*map(Path, line.split()))), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            print(json.dumps({"failed": "the process died", "breaks": []}), flush=True)


if __name__ == "__main__":
    main()
