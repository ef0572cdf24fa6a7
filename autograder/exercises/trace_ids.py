"""Exercise 6.1: what each transform did to the examples, told by their ids."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Iterator

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong

KEYS = ("dropped", "added", "duplicated", "reordered", "retargeted")


def public() -> Iterator[Case]:
    rng = random.Random(61)
    yield _case("a crop and a flip", rng, 6, [("crop", ""), ("flip", "o")])
    yield _case("a filter, then an oversampler", rng, 8, [("filter", "d"), ("oversample", "u")])


def hidden(rng: random.Random) -> Iterator[Case]:
    yield _case("nothing but a change of scale", rng, 7, [("scale", ""), ("to tensor", "")])
    yield _case(
        "a shuffle between two filters", rng, 12, [("filter", "d"), ("shuffle", "o"), ("filter again", "d")]
    )
    yield _case("a filter on its own", rng, 10, [("filter", "d")])
    yield _case("an oversampler, then a change of scale", rng, 9, [("oversample", "u"), ("scale", "")])
    yield _case("an augmentation that changes meaning", rng, 9, [("rotate", "r"), ("scale", "")])
    yield _case("an oversampler, then a shuffle", rng, 8, [("oversample", "u"), ("shuffle", "o")])
    yield _case("a loader that mixes sources", rng, 9, [("filter", "d"), ("merge", "a"), ("shuffle", "o")])
    yield _case("everything in one transform", rng, 12, [("black box", "dauro")])
    yield _case(
        "a relabeling of copies", rng, 8, [("oversample", "u"), ("relabel", "r"), ("oversample more", "u")]
    )
    yield _case("one transform that undoes another", rng, 9, [("sort", "o"), ("sort back", "b")])
    yield _case("examples that come back", rng, 9, [("filter", "d"), ("refill", "B")])
    yield _case("a single example", rng, 1, [("crop", ""), ("oversample", "u")])
    yield _case("a filter that leaves nothing", rng, 4, [("scale", ""), ("filter", "x")])


def _case(name: str, rng: random.Random, n: int, recipe: list[tuple[str, str]]) -> Case:
    """Stages of a pipeline: the raw examples, then what each transform gave out.

    A recipe's letters: d drops, u duplicates, o reorders, r changes targets, a adds;
    b goes back to the raw order, B back to all the raw examples, x drops everything.
    """
    first = rng.randint(100, 900)
    ids = [f"ex{i}" for i in rng.sample(range(first, first + 3 * n), n)]
    rows = [(i, rng.randint(0, 4)) for i in ids]
    stages, raw = [_stage("raw", rows)], rows
    for title, letters in recipe:
        before = rows
        for letter in letters:
            rows = _CHANGES[letter](rng, rows, raw)
        if letters == "o":
            while _first_seen(rows, before) == _first_seen(before, rows) and len({i for i, _ in rows}) > 1:
                rows = _shuffled(rng, rows)
        stages.append(_stage(title, rows))
    return Case(name, (stages,))


def _stage(title: str, rows: list[tuple[str, int]]) -> dict:
    return {"name": title, "ids": [i for i, _ in rows], "targets": [t for _, t in rows]}


def _drop(rng: random.Random, rows: list) -> list:
    gone = set(rng.sample(sorted({i for i, _ in rows}), 2))
    return [row for row in rows if row[0] not in gone]


def _double(rng: random.Random, rows: list) -> list:
    for row in rng.sample(rows, min(2, len(rows))):
        # beside the original or at the end: oversamplers do both
        rows = (
            rows[: rows.index(row) + 1] + [row] + rows[rows.index(row) + 1 :]
            if rng.random() < 0.5
            else [*rows, row]
        )
    return rows


def _retarget(rng: random.Random, rows: list) -> list:
    hit = set(rng.sample(sorted({i for i, _ in rows}), 2))
    return [(i, (t + 1) % 5 if i in hit else t) for i, t in rows]


def _add(rng: random.Random, rows: list) -> list:
    strangers = [(f"new{rng.randint(100, 999)}", rng.randint(0, 4)) for _ in range(2)]
    at = rng.randint(0, len(rows))
    return rows[:at] + list(dict(strangers).items()) + rows[at:]


def _shuffled(rng: random.Random, rows: list) -> list:
    return rng.sample(rows, len(rows))


_CHANGES = {
    "d": lambda rng, rows, raw: _drop(rng, rows),
    "u": lambda rng, rows, raw: _double(rng, rows),
    "r": lambda rng, rows, raw: _retarget(rng, rows),
    "a": lambda rng, rows, raw: _add(rng, rows),
    "o": lambda rng, rows, raw: _shuffled(rng, rows),
    "b": lambda rng, rows, raw: raw,
    "B": lambda rng, rows, raw: raw,
    "x": lambda rng, rows, raw: [],
}


def _first_seen(rows: list, others: list) -> list[str]:
    """Ids that both stages have, in the order of their first appearance in `rows`."""
    kept = {i for i, _ in others}
    return [i for i in dict(rows) if i in kept]


def _expected(before: dict, after: dict) -> dict:
    old, new = (list(zip(stage["ids"], stage["targets"])) for stage in (before, after))
    n_old, n_new = Counter(before["ids"]), Counter(after["ids"])
    was, now = dict(old), dict(new)
    return {
        "dropped": sorted(set(n_old) - set(n_new)),
        "added": sorted(set(n_new) - set(n_old)),
        "duplicated": sorted(i for i in n_old if n_new[i] > n_old[i]),
        "reordered": _first_seen(new, old) != _first_seen(old, new),
        "retargeted": sorted(i for i in now if i in was and was[i] != now[i]),
    }


def judge(case: Case, answer: Any) -> Verdict:
    stages = case.args[0]
    if type(answer) is not list or len(answer) != len(stages) - 1:
        return wrong(
            describe(answer),
            f"a list of {len(stages) - 1} dicts, one for each transform",
            "the raw examples are the first stage; a transform stands between two stages",
        )
    for before, after, report in zip(stages, stages[1:], answer):
        verdict = _judge_report(after["name"], report, _expected(before, after))
        if verdict:
            return verdict
    return right(f"{len(answer)} transforms told right: {', '.join(s['name'] for s in stages[1:])}")


def _judge_report(name: str, report: Any, expected: dict) -> Verdict | None:
    if type(report) is not dict or set(report) != set(KEYS):
        return wrong(
            f"{name}: {describe(report)}", f"a dict with the keys {', '.join(KEYS)}", "look at the docstring"
        )
    for key in KEYS:
        found, truth = report[key], expected[key]
        if type(found) is not type(truth) or (type(found) is list and any(type(i) is not str for i in found)):
            return wrong(
                f"{name}, {key}: {describe(found)}",
                "a bool for reordered, lists of ids for the others",
                "sorted(...) makes a list of a set",
            )
        if (sorted(found) if type(found) is list else found) != truth:
            shown = f"{', '.join(found) or 'no id'}" if type(found) is list else str(found)
            return wrong(f"{name}, {key}: {shown}", _WANTED[key], _LOOK[key])
    return None


_WANTED = {
    "dropped": "ids of the stage just before that this transform gave out no more, each once",
    "added": "ids that were not in the stage just before, each once",
    "duplicated": "ids that the stage just before had and that occur more often now, each once",
    "reordered": "whether the ids kept, each where it first appears, stand in another order",
    "retargeted": "kept ids whose target is another one than just before, each once",
}
_LOOK = {
    "dropped": "compare with the stage just before, not with the raw examples",
    "added": "compare with the stage just before, not with the raw examples",
    "duplicated": "count each id before and after; an old copy is not a new one",
    "reordered": "leave out ids that came or went, and later copies; then compare the two orders",
    "retargeted": "look a target up by id; position tells nothing after a drop or a shuffle",
}

EXERCISES = (
    Exercise(
        id="6.1",
        title="Trace ids through transforms",
        answer="trace_ids",
        points=4,
        minutes=8,
        level="stretch",
        claims=("6.1",),
        hints=(
            "Write a helper for one transform: the stage before, the stage after, five questions.",
            "Count ids on both sides (collections.Counter); sets forget copies.",
            "For the order, keep of both stages only the ids that they share, each once, and compare these lists.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
    ),
)
