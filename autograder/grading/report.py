"""What an instructor sees after grading: a table on screen, and the same as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..result import ItemResult
from .engine import StudentResult
from .files import write_whole

SIGNS = {"right": "✓", "partly right": "◐", "wrong": "✗", "not attempted": "–"}


def show(results: list[StudentResult], console: Console, walls: bool) -> None:
    """Print one row a student, a column a notebook with one sign an item; then what needs a look, in words."""
    groups: dict[str, list[str]] = {}
    for exercise_id in dict.fromkeys(i for r in results for i in r.items):
        groups.setdefault(exercise_id.partition(".")[0], []).append(exercise_id)
    table = Table(title="Scores and outcomes", padding=(0, 1))
    table.add_column("student", overflow="fold")
    table.add_column("score", justify="right")
    for head, ids in groups.items():
        table.add_column(f"{head}.\n" + " ".join(i.partition(".")[2] for i in ids), no_wrap=True)
    for r in results:
        signs = [_signs(r, ids) for ids in groups.values()]
        table.add_row(plain(r.student), f"{r.score:g} / {r.points:g}", *signs)
    console.print(table)
    console.print("✓ right  ◐ partly right  ✗ wrong  – not attempted  ! ended otherwise  ↺ cell restored")
    for r in results:
        for line in [*_attention(r), *r.notes]:
            console.print(plain(f"{r.student}: {line}"), soft_wrap=True)
    if not walls:
        console.print("Graded without a sandbox: student code ran as this user, with this user's rights.")


def _signs(result: StudentResult, ids: list[str]) -> str:
    """One sign an item, each as wide as its heading."""
    return " ".join(_sign(result.items[i]).ljust(len(i.partition(".")[2])) if i in result.items else "" for i in ids)


def _sign(item: ItemResult) -> str:
    return SIGNS.get(item.outcome, "!") + ("↺" if _restored(item) else "")


def _restored(item: ItemResult) -> bool:
    return any(note.startswith("Restored") for note in item.notes)


def _attention(result: StudentResult) -> list[str]:
    """Items that somebody should look at: ended in another way than by an answer, or brought back to shape."""
    return [
        f"{item.id} {item.outcome}, {item.mark:g} of {item.points:g}" + "".join(f"; {n}" for n in item.notes)
        for item in result.items.values()
        if item.outcome not in SIGNS or _restored(item)
    ]


def plain(text: str) -> Text:
    """Text for a terminal: control characters and direction marks become visible escapes."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return Text(shown)


def write_json(results: list[StudentResult], path: Path, walls: bool) -> None:
    """The report as JSON: every student, every item with outcome, cases and notes; written whole or not at all."""
    content = {"sandbox": walls, "students": [_student(r) for r in results]}
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _student(r: StudentResult) -> dict:
    items = {i: {**asdict(item), "mark": item.mark} for i, item in r.items.items()}
    for item in items.values():
        for case in item["cases"]:
            case["verdict"].pop("group")  # the true class of a decision
    return {
        "student": r.student,
        "score": r.score,
        "points": r.points,
        "seconds": round(r.seconds, 3),
        "notebooks": r.notebooks,
        "notes": r.notes,
        "items": items,
    }
