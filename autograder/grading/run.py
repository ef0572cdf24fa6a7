"""Run a restored notebook: student cells in the sandbox, graded cells in the judge."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Callable

from nbformat import NotebookNode
from nbformat.v4 import new_output

from ..exercises import find
from ..item import run_item
from ..judge import RemoteAnswer, checks_in
from ..render import item_html, item_text
from ..result import ItemResult
from ..sandbox import Process, ProcessLost, Sandbox
from .restore import Restored, grade_id

MAX_REBUILDS = 5


@dataclass
class Graded:
    """A graded notebook. items: results by grade id of the graded cell."""

    notebook: NotebookNode
    items: dict[str, ItemResult] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    whole: bool = False
    seconds: float = 0.0


def grade_notebook(restored: Restored, sandbox: Sandbox, seed_of: Callable[[str], int]) -> Graded:
    """Run and judge a notebook; lesson cells are left out unless a name turns out to be missing.

    seed_of: seed of the hidden cases, by exercise id. Errors: none for what a student did.
    """
    begun = time.monotonic()
    run = _Run(restored, sandbox, seed_of, whole=False)
    graded = run.all()
    if run.missing_names and restored.lessons:
        graded = _Run(restored, sandbox, seed_of, whole=True).all()
    graded.seconds = time.monotonic() - begun
    return graded


class _Run:
    """One pass over a notebook."""

    def __init__(self, restored: Restored, sandbox: Sandbox, seed_of: Callable[[str], int], whole: bool) -> None:
        self.restored, self.sandbox, self.seed_of, self.whole = restored, sandbox, seed_of, whole
        self.graded = Graded(restored.notebook, notes=restored.notes, whole=whole)
        self.deadline = time.monotonic() + sandbox.limits.notebook_seconds
        self.where = "the grader's judge" if sandbox.walls else "the grader's judge, without a sandbox"
        self.process: Process | None = None
        self.done: list[str] = []  # sources that ran, to be run again should their process die
        self.rebuilds = 0
        self.missing_names = False

    def all(self) -> Graded:
        try:
            later = [cell for n, cell in enumerate(self.graded.notebook.cells) if not self._step(n, cell)]
            for cell in later:  # a name may be defined below its check
                self._judge(cell, last=True)
        finally:
            self._end_process()
        for cell in self.graded.notebook.cells:  # what goes on from here is what students may see
            if grade_id(cell) in self.graded.items:
                cell.source = self.restored.shown.get(grade_id(cell), cell.source)
        return self.graded

    def _step(self, number: int, cell: NotebookNode) -> bool:
        """Run or judge one cell; False for a check that finds no answer yet."""
        if cell.cell_type != "code":
            return True
        if cell.metadata.get("nbgrader", {}).get("grade"):
            return self._judge(cell)
        if self.whole or number not in self.restored.lessons:
            self._run(cell)
        return True

    def _run(self, cell: NotebookNode) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            cell.outputs = [_stream("stderr", "not run: the notebook's time was used up by the cells above")]
            return
        try:
            process = self._alive()
            reply = process.cell(cell.source, min(left, self.sandbox.limits.cell_seconds))
        except ProcessLost as lost:
            printed = self.process.take_printed() if self.process else ("", "")
            self.process = None
            cell.outputs = [*_printed(printed), _error(lost.outcome, lost.text)]
            return
        self.done.append(cell.source)
        cell.outputs = [*_printed(process.take_printed()), *_displayed(reply)]
        error = reply.get("error") if type(reply) is dict else None
        self.missing_names |= type(error) is dict and error.get("ename") == "NameError"

    def _alive(self) -> Process:
        """The student's process; after a death a new one, with the cells that had run before."""
        if self.process is not None and self.process.alive:
            return self.process
        if self.rebuilds > MAX_REBUILDS:
            raise ProcessLost("crashed", "not run: the notebook's process died too often")
        self.rebuilds += 1
        self.process = self.sandbox.open()
        for source in self.done:
            self.process.cell(source, self.sandbox.limits.cell_seconds)
            self.process.take_printed()
        return self.process

    def _judge(self, cell: NotebookNode, last: bool = False) -> bool:
        """Judge a graded cell and put the result in its outputs; False when the answer is not defined yet."""
        checked = checks_in(cell.source)[-1]
        answer = RemoteAnswer(checked.name, lambda: self._alive().fork(), self.where)
        try:
            item = run_item(find(checked.exercise_id), answer, self.seed_of(checked.exercise_id))
        finally:
            answer.close()
        self.missing_names |= answer.missing_names
        gid = grade_id(cell)
        if self.rebuilds > 1:
            item.notes.append("The notebook's process died; the cells before were run again in a new one.")
        if gid in self.graded.notes:
            item.notes.append(f"Restored: {self.graded.notes[gid]}.")
        self.graded.items[gid] = item
        cell.outputs = _verdict(item)
        return last or not (item.outcome == "not attempted" and answer.missing_names)

    def _end_process(self) -> None:
        if self.process is not None:
            self.process.kill()


def _verdict(item: ItemResult) -> list[NotebookNode]:
    """A table for people, then the mark as the one result that nbgrader reads."""
    table = new_output("display_data", data={"text/html": item_html(item), "text/plain": item_text(item)})
    mark = new_output("execute_result", data={"text/plain": repr(item.mark)}, execution_count=1)
    return [table, mark]


def _printed(texts: tuple[str, str]) -> list[NotebookNode]:
    return [_stream(name, text) for name, text in zip(("stdout", "stderr"), texts) if text]


def _stream(name: str, text: str) -> NotebookNode:
    return new_output("stream", name=name, text=text)


def _error(name: str, text: str) -> NotebookNode:
    return new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])


def _displayed(reply: object) -> list[NotebookNode]:
    """Displays, result and error of a cell, as far as what arrived has their shape."""
    if type(reply) is not dict:
        return []
    outputs = [new_output("display_data", data=d) for d in _list(reply.get("displays")) if _is_bundle(d)]
    if _is_bundle(reply.get("result")):
        outputs.append(new_output("execute_result", data=reply["result"], execution_count=1))
    error = reply.get("error")
    if type(error) is dict and all(type(error.get(k)) is str for k in ("ename", "evalue")):
        lines = [line[:4000] for line in _list(error.get("traceback")) if type(line) is str][:40]
        outputs.append(new_output("error", ename=error["ename"], evalue=error["evalue"], traceback=lines))
    return outputs


def _list(value: object) -> list:
    return value[:50] if type(value) is list else []


def _is_bundle(value: object) -> bool:
    return type(value) is dict and bool(value) and all(
        k in ("text/plain", "image/png", "image/jpeg") and type(v) is str and len(v) < 2_000_000
        for k, v in value.items()
    )
