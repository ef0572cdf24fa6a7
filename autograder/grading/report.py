"""What an instructor sees after grading: a table on screen, and the same as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..result import ItemResult
from ..text import printable
from .files import write_whole
from .results import decisions
from .task import StudentResult

SIGNS = {"right": "✓", "partly right": "◐", "wrong": "✗", "not attempted": "–"}


def show(results: list[StudentResult], console: Console, walls: bool) -> None:
    """Print one row a student, a column a notebook with one sign an item; then what needs a look, in words."""
    groups: dict[str, list[str]] = {}
    for exercise_id in dict.fromkeys(i for r in results for i in r.items):
        groups.setdefault(exercise_id.partition(".")[0], []).append(exercise_id)
    table = Table(title="Scores and outcomes", box=SIMPLE_HEAD, padding=(0, 1), collapse_padding=True, pad_edge=False)
    table.add_column("student", overflow="fold")
    table.add_column("score", justify="right")
    for head in groups:
        table.add_column(f"{head}.", no_wrap=True)
    for r in results:
        signs = ["".join(_sign(r.items[i]) if i in r.items else " " for i in ids) for ids in groups.values()]
        table.add_row(plain(r.student), f"{r.score:g} / {r.points:g}", *signs)
    console.print(table)
    console.print("One sign an exercise, in their order: ✓ right  ◐ partly right  ✗ wrong  – not attempted")
    console.print("! ended otherwise  ↺ cell restored", soft_wrap=True)
    for r in results:
        for line in attention(r):
            console.print(plain(f"{r.student}: {line}"), soft_wrap=True)
    if not walls:
        console.print("Graded without a sandbox: student code ran as this user, with this user's rights.")


def _sign(item: ItemResult) -> str:
    return SIGNS.get(item.outcome, "!") + ("↺" if _restored(item) else "")


def _restored(item: ItemResult) -> bool:
    return any(note.startswith("Restored") for note in item.notes)


def attention(result: StudentResult) -> list[str]:
    """What somebody should look at: items that ended otherwise than by an answer or were restored, and notes."""
    items = [
        f"{item.id} {item.outcome}, {item.mark:g} of {item.points:g}" + "".join(f"; {n}" for n in item.notes)
        for item in result.items.values()
        if item.outcome not in SIGNS or _restored(item)
    ]
    return [*items, *result.notes]


def plain(text: str) -> Text:
    """Text for a terminal: control characters and direction marks become visible escapes."""
    return Text(printable(text))


def write_json(results: list[StudentResult], path: Path, walls: bool, others: Iterable[dict] = ()) -> None:
    """The report as JSON: every student, every item with outcome, cases and notes; written whole or not at all.

    others: entries of an earlier report that stay as they are, of students who were not graded now.
    """
    students = sorted([*others, *(_student(r, walls) for r in results)], key=lambda entry: entry["student"])
    content = {"sandbox": all(entry["sandbox"] for entry in students), "students": students}
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _student(r: StudentResult, walls: bool) -> dict:
    decided = {i: counts for i, item in r.items.items() if (counts := decisions(item))}
    items = {i: {**asdict(item), "mark": item.mark} for i, item in r.items.items()}
    for item in items.values():
        for case in item["cases"]:
            case["verdict"].pop("group")  # the true class of a decision
    return {
        "student": r.student,
        "sandbox": walls,
        "score": r.score,
        "points": r.points,
        "seconds": round(r.seconds, 3),
        "timing": r.timing,
        "notebooks": r.notebooks,
        "notes": r.notes,
        "failed": r.failed,
        "decisions": decided,
        "items": items,
    }
