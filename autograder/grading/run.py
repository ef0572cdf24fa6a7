"""Run a restored notebook: student cells in the sandbox, graded cells in the judge."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Callable

from nbformat import NotebookNode

from ..exercises import find
from ..item import run_item
from ..judge import Check, checks_in, discreet
from ..judge.remote import RemoteAnswer
from ..result import CaseResult, ItemResult
from ..sandbox import Process, ProcessLost, Sandbox, SandboxUnavailable
from .outputs import Outputs, escaped, of_verdict, visible
from .restore import Restored, defined, grade_id, is_check
from .task import Graded, Task

MAX_REBUILDS = 5
TRIES = 3  # where a process was killed by the system or a person, which is no doing of the student's


def grade_notebook(restored: Restored, sandbox: Sandbox, seed_of: Callable[[str], int]) -> Graded:
    """Run and judge a notebook that nothing is known of yet; see `grade_task`."""
    ids = [checks_in(c.source)[-1].exercise_id for c in restored.notebook.cells if is_check(c)]
    return grade_task(Task("", "", restored, {i: seed_of(i) for i in ids}), sandbox)


def grade_task(task: Task, sandbox: Sandbox) -> Graded:
    """Run and judge a notebook; lesson cells are left out unless a name turns out to be missing.

    Errors: none for what a student did; SandboxUnavailable when the sandbox itself ended meanwhile.
    """
    begun = time.monotonic()
    for _ in range(TRIES):
        kills = sandbox.kills
        graded = _grade(task, sandbox)
        if not sandbox.alive or sandbox.kills == kills:
            break
    if not sandbox.alive:
        raise SandboxUnavailable("the sandbox ended while it ran a notebook")
    graded.seconds = time.monotonic() - begun
    return graded


def _grade(task: Task, sandbox: Sandbox) -> Graded:
    run = _Run(task, sandbox, task.whole)
    graded = run.all()
    if run.missing_names and task.restored.lessons and not task.whole:
        graded = _Run(task, sandbox, whole=True).all()
    return graded


class _Run:
    """One pass over a notebook."""

    def __init__(self, task: Task, sandbox: Sandbox, whole: bool) -> None:
        self.task, self.restored, self.sandbox, self.whole = task, task.restored, sandbox, whole
        restored = task.restored
        cells = [NotebookNode(cell) for cell in restored.notebook.cells]  # another pass must find them as they were
        self.graded = Graded(NotebookNode(restored.notebook, cells=cells), notes=restored.notes, whole=whole)
        self.deadline = time.monotonic() + sandbox.limits.notebook_seconds
        self.where = "the grader's judge" if sandbox.walls else "the grader's judge, without a sandbox"
        self.own_lines = {
            line.strip() for c in restored.notebook.cells if c.cell_type == "code" for line in c.source.splitlines()
        }
        self.outputs = Outputs()
        self.process: Process | None = None
        self.done: list[str] = []  # sources that ran, to be run again should their process die
        self.lost: dict[str, ProcessLost] = {}  # names that a cell would define that lost its process
        self.restored_before: list[str] = []  # what the next item has to say of cells above it
        self.rebuilds = 0
        self.missing_names = False

    def all(self) -> Graded:
        try:
            later = [cell for n, cell in enumerate(self.graded.notebook.cells) if not self._timed(self._step, cell, n)]
            for cell in later:  # a name may be defined below its check
                self._timed(self._judge, cell, True)
        finally:
            self._end_process()
        for cell in self.graded.notebook.cells:  # what goes on from here is what students may see
            cell.source = escaped(cell.source)
            if grade_id(cell) in self.graded.items:
                cell.source = self.restored.shown.get(grade_id(cell), cell.source)
        return self.graded

    def _timed(self, step: Callable[..., bool], cell: NotebookNode, *more: object) -> bool:
        begun = time.monotonic()
        done = step(cell, *more)
        if cell.get("outputs") or is_check(cell):
            spent = self.graded.timing.get(cell["id"], 0.0) + time.monotonic() - begun
            self.graded.timing[cell["id"]] = round(spent, 4)
        return done

    def _step(self, cell: NotebookNode, number: int) -> bool:
        """Run or judge one cell; False for a check that finds no answer yet."""
        if cell.cell_type != "code":
            return True
        if is_check(cell):
            return self._judge(cell)
        if grade_id(cell) in self.graded.notes:
            self.restored_before.append(f"Restored {grade_id(cell)}: {self.graded.notes[grade_id(cell)]}.")
        if self.whole or number not in self.restored.lessons:
            self._run(cell)
        return True

    def _run(self, cell: NotebookNode) -> None:
        try:
            process = self._alive()
            reply = process.cell(cell.source, min(self._left(), self.sandbox.limits.cell_seconds))
        except ProcessLost as lost:
            printed = self.process.take_printed() if self.process else ("", "")
            self.process = None
            self.lost.update(dict.fromkeys(defined(cell.source), lost))
            cell.outputs = self.outputs.of_loss(lost.outcome, lost.text, printed)
            return
        self.done.append(cell.source)
        cell.outputs = self.outputs.of_cell(reply, process.take_printed())
        error = reply.get("error") if type(reply) is dict else None
        self.missing_names |= type(error) is dict and error.get("ename") == "NameError"

    def _left(self) -> float:
        """Seconds left for the notebook's cells. Errors: ProcessLost when there are none."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise ProcessLost("timed out", "not run: the notebook's time was used up by the cells above")
        return left

    def _alive(self) -> Process:
        """The student's process; after a death a new one, with the cells that had run before."""
        if self.process is not None and self.process.alive:
            return self.process
        if self.rebuilds > MAX_REBUILDS:
            raise ProcessLost("crashed", "not run: the notebook's process died too often")
        self.rebuilds += 1
        self.process = self.sandbox.open()
        for source in self.done:
            self.process.cell(source, min(self._left(), self.sandbox.limits.cell_seconds))
            self.process.take_printed()
        return self.process

    def _judge(self, cell: NotebookNode, last: bool = False) -> bool:
        """Judge a graded cell and put the result in its outputs; False when the answer is not defined yet."""
        checked, gid = checks_in(cell.source)[-1], grade_id(cell)
        item, missing = self._known_or_new(gid, checked)
        self.missing_names |= missing
        if self.rebuilds > 1:
            item.notes.append("The notebook's process died; the cells before were run again in a new one.")
        if gid in self.graded.notes:
            item.notes.append(f"Restored: {self.graded.notes[gid]}.")
        item.notes += self.restored_before
        self.restored_before = []
        self.graded.items[gid] = item
        cell.outputs = of_verdict(item)
        return last or not (item.outcome == "not attempted" and missing)

    def _known_or_new(self, gid: str, checked: Check) -> tuple[ItemResult, bool]:
        """What the judge finds, now or in an earlier run of the same cells, and whether a name was missing."""
        item, missing = self.task.known.get(gid), False
        if item is None:
            item, missing = self._item(checked, lambda: self._alive().fork())
            if missing and checked.name in self.lost:
                lost = self.lost[checked.name]
                item, missing = self._item(checked, lambda: _raise(lost))
        self.graded.judged[gid] = item
        return replace(item, notes=list(item.notes)), missing

    def _item(self, checked: Check, fork: Callable[[], Process]) -> tuple[ItemResult, bool]:
        """An item's result, fit to be shown, and whether a name was missing."""
        answer = RemoteAnswer(checked.name, fork, self.where)
        try:
            item = run_item(find(checked.exercise_id), answer, self.task.seeds[checked.exercise_id])
        finally:
            answer.close()
        item.cases = [_visible(discreet(case, self.own_lines)) for case in item.cases]
        if answer.changed_inputs:
            item.notes.append("The answer changed its inputs in place; it was judged on what it had been given.")
        return item, answer.missing_names

    def _end_process(self) -> None:
        if self.process is not None:
            self.process.kill()


def _visible(case: CaseResult) -> CaseResult:
    return replace(case, verdict=replace(case.verdict, observed=visible(case.verdict.observed)))


def _raise(lost: ProcessLost) -> Process:
    raise lost
