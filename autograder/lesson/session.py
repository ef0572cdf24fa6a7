"""The map of the session: its notebooks, and their exercises with points and minutes."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Iterator

from ..exercises import all_exercises
from ..exercises.base import Exercise

if TYPE_CHECKING:
    from .kept import Kept


@dataclass(frozen=True)
class Part:
    """One notebook: its file without .ipynb, and the question it answers."""

    notebook: str
    title: str
    question: str

    @property
    def number(self) -> str:
        """The notebook's number as in its file's name: "02", "08-gpu"."""
        return self.notebook.partition("_")[0]

    def exercises(self) -> list[Exercise]:
        """Exercises 2.1, 2.3, ... are those of notebook 02."""
        return [one for one in all_exercises().values() if one.id.partition(".")[0].zfill(2) == self.number]


PARTS = (
    Part(
        "00_what_debugging_tests",
        "What debugging tests",
        "What does a falling loss prove, and what must be saved to repeat a failure?",
    ),
    Part(
        "01_overfit_one_batch",
        "Overfit one batch",
        "Can this model and this optimizer fit a few fixed examples, and what follows if they can?",
    ),
    Part(
        "02_nan_and_inf",
        "NaN and inf",
        "Where is the first number that is not finite?",
    ),
    Part(
        "03_loss_will_not_move",
        "The loss will not move",
        "Which link between the loss and a changed weight is broken?",
    ),
    Part(
        "04_train_against_validation",
        "Train against validation",
        "Are the two curves computed from comparable things?",
    ),
    Part(
        "05_histograms",
        "Histograms and monitors",
        "What do the statistics of weights and gradients say, and what not?",
    ),
    Part(
        "06_data",
        "Data",
        "Does each example still carry its own id, label and meaning when it reaches the model?",
    ),
    Part(
        "07_failure_scenarios",
        "Failure scenarios",
        "Which observable tells apart faults that look the same?",
    ),
    Part(
        "08_tool_belt",
        "Tool belt on the CPU",
        "What do profiler, compiler and memory tools report?",
    ),
    Part(
        "08-gpu_tool_belt",
        "Tool belt on a GPU",
        "What do they report there? Recorded results to read, where there is none.",
    ),
    Part(
        "09_retention",
        "Retention",
        "Diagnose broken runs that you have not seen before.",
    ),
)


def home(exercise: Exercise) -> Part:
    """The notebook of an exercise."""
    return next(part for part in PARTS if exercise in part.exercises())


def following(passed: set[str], after: Exercise | None = None) -> Exercise | None:
    """The next exercise that has not passed, core ones first; one behind `after` before those ahead of it."""
    order = [one for part in PARTS for one in part.exercises()]
    start = order.index(after) + 1 if after in order else 0
    left = [one for one in order[start:] + order[:start] if one.id not in passed]
    return next((one for one in left if one.level == "core"), left[0] if left else None)


def table() -> str:
    """The session as a Markdown table, for the text of the first notebook."""
    rows = [
        "| Notebook | The question it answers | Exercises | Minutes | Points |",
        "|---|---|---|---|---|",
    ]
    for part in PARTS:
        name = f"[{part.number} {part.title}]({part.notebook}.ipynb)"
        rows.append("| " + " | ".join((name, part.question, *_counts(part.exercises()))) + " |")
    rows.append("| | all together | " + " | ".join(_counts(list(all_exercises().values()))) + " |")
    return "\n".join(rows)


def _counts(exercises: list[Exercise]) -> list[str]:
    """Number, minutes and points of exercises: of core ones, plus those of stretch ones."""
    core, stretch = ([one for one in exercises if one.level == level] for level in ("core", "stretch"))
    pairs = (
        (len(core), len(stretch)),
        (sum(one.minutes for one in core), sum(one.minutes for one in stretch)),
        (sum(one.points for one in core), sum(one.points for one in stretch)),
    )
    if not exercises:
        return ["–"] * len(pairs)
    return [f"{a:g}{GAP}+{GAP}{b:g}" if b else f"{a:g}" for a, b in pairs]


GAP = "\N{NO-BREAK SPACE}"
MARKS = {"passed": "✓", "begun": "◐", None: "○"}


class Map:
    """The session with a mark at each exercise: ✓ its visible cases pass, ◐ begun, ○ not yet."""

    def __init__(self, kept: Kept) -> None:
        self.states, self.note = kept.states(), kept.note

    def _done(self) -> str:
        every = all_exercises()
        passed = sum(self.states.get(one) == "passed" for one in every)
        return f"{passed} of {len(every)} exercises pass their visible cases."

    def _coming(self) -> tuple[str, str]:
        """What is next, and the file that holds it; no file where all is done."""
        coming = following({one for one, state in self.states.items() if state == "passed"})
        if coming is None:
            return "All is done; fresh cases are drawn when your notebooks are graded.", ""
        return (
            f"Next: {told(coming)}, in {home(coming).number} {home(coming).title}.",
            f"{home(coming).notebook}.ipynb",
        )

    def _rows(self) -> Iterator[tuple[Part, str]]:
        for part in PARTS:
            marks = [f"{MARKS[self.states.get(one.id)]} {one.id}" for one in part.exercises()]
            yield part, "  ".join(marks) or "to read"

    def __repr__(self) -> str:
        rows = [f"{part.number:7s}{part.title:26s}{marks}" for part, marks in self._rows()]
        return "\n".join([self._done(), self._coming()[0], *rows, _LEGEND, *filter(None, [self.note])])

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="{_CELL};white-space:nowrap">'
            f'<a href="{part.notebook}.ipynb">{escape(f"{part.number} {part.title}")}</a></th>'
            f'<td style="{_CELL}">{escape(marks)}</td></tr>'
            for part, marks in self._rows()
        )
        head = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in ("Notebook", "Exercises"))
        coming, file = self._coming()
        link = f'<a href="{file}">{escape(coming)}</a>' if file else escape(coming)
        return (
            f'<div class="autograder-progress"><p><strong>{self._done()}</strong> {link}</p>'
            f'<table style="border-collapse:collapse;margin:.4em 0"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table><p><small>{_LEGEND} {escape(self.note)}</small></p></div>"
        )


_CELL = "text-align:left;padding:.2em .8em;border-bottom:1px solid #8884"
_LEGEND = (
    "✓ all visible cases pass   ◐ begun   ○ not yet. "
    "Kept on this machine alone; progress.forget() removes it."
)


def told(exercise: Exercise) -> str:
    """An exercise in a few words."""
    return f"exercise {exercise.id}, {exercise.title} ({exercise.minutes} minutes, {exercise.level})"
