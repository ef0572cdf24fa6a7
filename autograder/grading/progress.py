"""The grading of a class as it goes on: a bar with rate and remaining time where there is a terminal."""

from __future__ import annotations

import contextlib
from typing import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
from rich.text import Text

from .task import Watch


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f} a second" if task.speed else "")


class Bar(Watch):
    """A bar of notebooks with their rate and the time that remains."""

    def __init__(self, bar: Progress) -> None:
        self.bar, self.task = bar, bar.add_task("notebooks", total=None)

    def total(self, notebooks: int) -> None:
        self.bar.update(self.task, total=notebooks)

    def notebook(self, student: str, name: str) -> None:
        self.bar.advance(self.task)


@contextlib.contextmanager
def followed(console: Console) -> Iterator[Watch]:
    """A bar in a terminal; in a log, where lines stay, nothing."""
    if not console.is_terminal:
        yield Watch()
        return
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield Bar(bar)
