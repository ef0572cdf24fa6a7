"""Exercises 4.4a and 4.4b: a split by group, and an audit that finds what leaks through one."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Iterator

import torch

from ..result import Case, Verdict
from .base import Exercise, decisions, describe, right, wrong

# --- 4.4a: the split ---------------------------------------------------------------------


def public_split() -> Iterator[Case]:
    rng = random.Random(44)
    yield _split_case("six people, five rows each", rng, [5] * 6, 0.3)
    yield _split_case("rows of each person apart from one another", rng, [9, 3, 4, 6, 2, 7], 0.2, mixed=True)


def hidden_split(rng: random.Random) -> Iterator[Case]:
    yield _split_case("two groups", rng, [4, 5], 0.5, mixed=True)
    yield _split_case("one group with most of the rows", rng, [60, *[2] * 10], 0.2, mixed=True)
    yield _split_case("big groups first, small groups last", rng, [9] * 150 + [1] * 150, 0.4)
    yield _split_case("small groups first, big groups last", rng, [1] * 150 + [9] * 150, 0.5)
    yield _split_case("every row a group of its own", rng, [1] * 30, 0.2, mixed=True)
    yield _split_case("sizes at random", rng, [rng.randint(1, 15) for _ in range(20)], 0.25, mixed=True)
    yield _split_case(
        "a validation share of four fifths", rng, [rng.randint(2, 5) for _ in range(15)], 0.8, mixed=True
    )
    yield _split_case("names that begin alike", rng, [3] * 12, 0.25, mixed=True, prefix="visit-1")


def _split_case(
    name: str, rng: random.Random, sizes: list[int], share: float, mixed: bool = False, prefix: str = "p"
) -> Case:
    groups = [f"{prefix}{k}" for k, size in enumerate(sizes) for _ in range(size)]
    if mixed:
        rng.shuffle(groups)
    return Case(name, (groups, share))


def judge_split(case: Case, answer: Any) -> Verdict:
    groups, share = case.args
    shape = "a tuple of two lists of ints: training rows, validation rows"
    if type(answer) is not tuple or len(answer) != 2 or any(type(side) is not list for side in answer):
        return wrong(describe(answer), shape, "look at the return line")
    strange = [i for side in answer for i in side if type(i) is not int]
    if strange:
        return wrong(f"{describe(strange[0])} among the rows", shape, "indices are plain ints: try int(i)")
    train, val = answer
    seen = f"{len(train)} training and {len(val)} validation rows of {len(groups)}"
    if sorted(train + val) != list(range(len(groups))):
        return wrong(
            seen, "each row on exactly one side", "sort both lists together: which row is missing or double?"
        )
    shared = {groups[i] for i in train} & {groups[i] for i in val}
    if shared:
        return wrong(
            f"{seen}; {len(shared)} groups on both sides",
            "each group on one side, whole",
            "print the set of groups on either side, and where the sets meet",
        )
    if not train or not val:
        return wrong(
            seen, "neither side empty", "what happens when the next group is larger than what is wanted?"
        )
    largest = max(Counter(groups).values())
    if abs(len(val) - share * len(groups)) > largest:
        return wrong(
            seen,
            f"about {share:g} of the rows for validation, to within the largest group's {largest} rows",
            "is the share counted in groups or in rows?",
        )
    return right(seen)


# --- 4.4b: the audit ---------------------------------------------------------------------

TOLERANCE = 0.01


def public_audit() -> Iterator[Case]:
    g = torch.Generator().manual_seed(441)
    yield _audit_case("ten rows against six", g, 10, 6)
    yield _audit_case("twelve rows against five", g, 12, 5, shared=2, near=1)


def hidden_audit(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    yield _audit_case("fourteen rows against seven", g, 14, 7)
    yield _audit_case("forty rows against thirty, in raw units", g, 40, 30, near=3, offset=5000.0)
    yield _audit_case("nine rows against eight", g, 9, 8, shared=1)
    yield _audit_case("rows alike within one side", g, 12, 8, within=True)
    yield _audit_case("one validation row", g, 20, 1, near=1, shared=1)
    yield _audit_case("thirteen rows against nine", g, 13, 9, near=2)
    yield _audit_case("thirty rows against twenty, in raw units", g, 30, 20, offset=5000.0)
    yield _audit_case("fifteen rows against ten", g, 15, 10, shared=3, near=2)
    yield _audit_case("people with many rows", g, 24, 12, shared=2)
    yield _whole_units(g)


def _audit_case(
    name: str,
    g: torch.Generator,
    n: int,
    m: int,
    shared: int = 0,
    near: int = 0,
    offset: float = 0.0,
    within: bool = False,
) -> Case:
    """Rows of two sides with planted groups and twins; the truth is found again by measuring."""
    train, val = (torch.randn(k, 5, generator=g) + offset for k in (n, m))
    train_groups = [f"t{i // 2}" for i in range(n)]
    val_groups = [f"v{i // 2}" for i in range(m)]
    for k in range(shared):
        val_groups[(2 * k) % m] = train_groups[2 * k]
    for k in range(near):  # twins differ a little in every feature; half of the tolerance at most
        noise = (torch.rand(5, generator=g) - 0.5) * TOLERANCE
        val[(k * 2 + 1) % m] = train[(3 * k + 2) % n] + noise
    if within:
        train[3], val[2] = train[0], val[1]
        val[4] = train[5]
        val[4, 2] += 5 * TOLERANCE  # all features but one agree
    return Case(name, (train, train_groups, val, val_groups, TOLERANCE))


def _whole_units(g: torch.Generator) -> Case:
    """Readings in whole units: twins that differ by the tolerance itself, and rows that differ by one more."""
    train = 10.0 * torch.randint(-9, 10, (8, 5), generator=g) + 100.0 * torch.arange(8)[:, None]
    val = train[:6] + 50.0
    for row, step in ((1, 1.0), (4, 2.0)):
        val[row] = train[row + 2]
        val[row, row] += step
    names = [f"t{i}" for i in range(8)], [f"v{i}" for i in range(6)]
    return Case("readings in whole units, tolerance one unit", (train, names[0], val, names[1], 1.0))


def _audit_truth(case: Case) -> dict:
    train, train_groups, val, val_groups, tolerance = case.args
    gap = (train.double()[:, None] - val.double()[None]).abs().amax(2)
    pairs = [(i, j) for i in range(len(train)) for j in range(len(val)) if gap[i, j] <= tolerance]
    return {"groups": sorted(set(train_groups) & set(val_groups)), "pairs": pairs}


def judge_audit(case: Case, answer: Any) -> Verdict:
    truth = _audit_truth(case)
    group = f"{bool(truth['groups'])} {bool(truth['pairs'])}"  # what a constant answer would have to guess
    if type(answer) is not dict or set(answer) != {"groups", "pairs"}:
        return wrong(
            describe(answer),
            "a dict with the keys 'groups' and 'pairs'",
            "look at the docstring",
            group=group,
        )
    if any(type(answer[key]) is not list for key in answer):
        return wrong(
            "; ".join(f"{k}: {describe(answer[k])}" for k in ("groups", "pairs")),
            "two lists",
            "sorted(...) makes a list of a set",
            group=group,
        )
    if any(type(name) is not str for name in answer["groups"]):
        return wrong("'groups' holds something other than names", "names as they came", "", group=group)
    if any(type(p) is not tuple or [type(i) for i in p] != [int, int] for p in answer["pairs"]):
        return wrong(
            "'pairs' holds something other than pairs of ints",
            "(training row, validation row) as plain ints",
            "tensor.tolist() gives lists of ints; tuple(...) turns one into a pair",
            group=group,
        )
    seen = f"{len(answer['groups'])} groups and {len(answer['pairs'])} pairs reported"
    for key in ("groups", "pairs"):
        if sorted(answer[key]) != truth[key]:
            what = _difference(answer[key], truth[key], key)
            return wrong(f"{seen}; {what}", _WANTED_AUDIT[key], _LOOK_AUDIT[key], group=group)
    return right(seen, group=group)


def _difference(found: list, truth: list, key: str) -> str:
    missed, false = len(set(truth) - set(found)), len(set(found) - set(truth))
    double = len(found) - len(set(found))
    parts = [f"{n} {word}" for n, word in ((missed, "missed"), (false, "false"), (double, "double")) if n]
    return f"{key}: {', '.join(parts)}"


_WANTED_AUDIT = {
    "groups": "each group that has a row on both sides, once, and no other",
    "pairs": "each pair across the split that differs by at most the tolerance in every feature",
}
_LOOK_AUDIT = {
    "groups": "write both sides' groups as sets",
    "pairs": "take one pair by hand: its largest difference over the features, against the tolerance",
}

EXERCISES = (
    Exercise(
        id="4.4a",
        title="Split by group",
        answer="group_split",
        points=2,
        minutes=5,
        level="stretch",
        claims=("4.4",),
        hints=(
            "What moves from one side to the other in one piece: a row or a group?",
            "Count rows per group first; then watch how many validation rows you have after each group you add.",
            "Try one group that holds most of the rows: which side is empty, and which is far from the share?",
        ),
        public=public_split,
        hidden=hidden_split,
        judge=judge_split,
    ),
    Exercise(
        id="4.4b",
        title="Audit a split for leaks",
        answer="leakage_audit",
        points=2,
        minutes=5,
        level="stretch",
        claims=("4.4",),
        hints=(
            "There are two questions: which names stand on both sides, and which rows have a twin on the other side.",
            "A twin need not be equal to the last bit; look at the largest difference over the features.",
            "Rows near 5000 with differences near 0.01: does your distance still tell these apart? Subtract first.",
        ),
        public=public_audit,
        hidden=hidden_audit,
        judge=judge_audit,
        score=decisions,
    ),
)
