"""What an instructor sees after grading: a table on screen, and the same as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .engine import StudentResult

SIGNS = {"right": "✓", "partly right": "◐", "wrong": "✗", "not attempted": "–"}


def show(results: list[StudentResult], console: Console, walls: bool) -> None:
    """Print one row a student: score, and the outcome of each item with its points."""
    ids = list(dict.fromkeys(i for r in results for i in r.items))
    table = Table(title="Scores and outcomes")
    table.add_column("student", overflow="fold")
    table.add_column("score", justify="right")
    for exercise_id in ids:
        table.add_column(exercise_id, overflow="fold")
    for r in results:
        cells = [_cell(r.items[i]) if i in r.items else "" for i in ids]
        table.add_row(plain(r.student), f"{r.score:g} / {r.points:g}", *cells)
    console.print(table)
    console.print("✓ right   ◐ partly right   ✗ wrong   – not attempted   ! ended otherwise, named in the cell")
    for r in results:
        for note in r.notes:
            console.print(Text(f"{plain(r.student).plain}: {plain(note).plain}"))
    if not walls:
        console.print("Graded without a sandbox: student code ran as this user, with this user's rights.")


def _cell(item: object) -> Text:
    sign = SIGNS.get(item.outcome)
    word = "" if sign else f"\n{item.outcome}"
    restored = "\nrestored" if any(n.startswith("Restored") for n in item.notes) else ""
    return Text(f"{sign or '!'} {item.mark:g}{word}{restored}")


def plain(text: str) -> Text:
    """Text for a terminal: control characters and direction marks become visible escapes."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return Text(shown)


def write_json(results: list[StudentResult], path: Path, walls: bool) -> None:
    """The report as JSON: every student, every item with outcome, cases and notes; written whole or not at all."""
    content = {"sandbox": walls, "students": [_student(r) for r in results]}
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(path)


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
