"""Grade the corpora side by side with stock nbgrader and print what came of each row.

    python -m tests.adversarial [--ours]
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import torch

from . import ours, stock
from .course import IDS


def main(argv: list[str]) -> int:
    """Print the table, then one line of JSON. Returns: 0 when every row came out as it must."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        graded = ours.grade(Path(folder))
        beside = {} if "--ours" in argv else stock.grade(Path(folder), graded.rows)
    for outcome in graded.rows:
        print(_line(outcome, beside.get(outcome.row.student)))
        for said in [*outcome.wrong, *(f"read: {name}" for name in outcome.read)]:
            print(f"    ! {said}")
    print(*[f"! {escape}" for escape in graded.escapes], sep="\n")
    totals = summary(graded, beside)
    print(json.dumps(totals))
    return 0 if all(not o.wrong and not o.read for o in graded.rows) and not graded.escapes else 1


def summary(graded: ours.Graded, beside: dict) -> dict[str, int]:
    """The numbers of the last line."""
    awkward = [o for o in graded.rows if o.row.group == "awkward"]
    hostile = [o for o in graded.rows if o.row.group == "hostile"]
    return {
        "awkward": len(awkward),
        "awkward_right": sum(not o.wrong for o in awkward),
        "hostile": len(hostile),
        "marks_gained": sum(o.gained for o in hostile),
        "secrets_read": sum(len(o.read) for o in graded.rows) + sum("held" in e for e in graded.escapes),
        "escapes": sum("held" not in e for e in graded.escapes),
        "stock_marks_gained": sum(stock.gained(o.row, beside[o.row.student]) for o in hostile if o.row.student in beside),
        "stock_lost": sum(stock.lost(o.row, beside[o.row.student]) for o in awkward if o.row.student in beside),
    }


def _line(outcome: ours.Outcome, theirs: object) -> str:
    mine = ", ".join(outcome.outcomes.get(i, "-") for i in IDS)
    return f"{outcome.row.group:8} {outcome.row.title:62.62} | {mine:48} | {stock.said(theirs)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
