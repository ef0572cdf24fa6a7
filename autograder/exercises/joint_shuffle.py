"""7.1: shuffle examples without tearing pairs apart, and find torn pairs by their ids."""

from __future__ import annotations

import random
from typing import Any, Iterator

import torch
from torch import Tensor

from ..result import Case, Verdict
from ..wire import NumpyScalar
from .base import Exercise, decisions, describe, right, wrong

NAMES = ("inputs", "labels", "ids")


def judge_shuffle(case: Case, evidence: Any) -> Verdict:
    """Shapes first, then pairs, then whether the order is random and repeatable."""
    given, seeds = case.args[:3], case.args[3]
    orders = []
    for answer in evidence["answers"]:
        bad = _bad_types(given, answer) or _torn(given, answer)
        if bad is not None:
            return bad
        where = {int(i): position for position, i in enumerate(given[2])}
        orders.append([where[int(i)] for i in answer[2]])
    if not all(evidence["kept"]):
        return wrong(
            "the arguments themselves were changed",
            "new tensors; the caller's data stay in place",
            "which of your operations work in place?",
        )
    n = len(given[2])
    if n >= 16:
        bad = _not_random(orders, n)
        if bad is not None:
            return bad
    return right(
        f"{n} pairs kept in {len(seeds)} shuffles; first ids "
        f"{[int(i) for i in evidence['answers'][0][2][:4]]}"
    )


def _bad_types(given: tuple, answer: Any) -> Verdict | None:
    want = "a tuple (inputs, labels, ids) of tensors with the shapes and dtypes that went in"
    if type(answer) not in (tuple, list) or len(answer) != 3:
        return wrong(describe(answer), want, "compare the last line of your function with its docstring")
    for name, before, after in zip(NAMES, given, answer):
        if not isinstance(after, Tensor) or after.shape != before.shape or after.dtype != before.dtype:
            return wrong(f"{name}: {describe(after)}", want, "index a tensor with a tensor of positions")
    return None


def _torn(given: tuple, answer: Any) -> Verdict | None:
    inputs, labels, ids = given
    if sorted(answer[2].tolist()) != sorted(ids.tolist()):
        return wrong(
            f"{len(set(answer[2].tolist()))} distinct ids of {len(ids)}",
            "every id exactly once",
            "drawn with or without replacement?",
        )
    where = {int(i): position for position, i in enumerate(ids)}
    home = torch.tensor([where[int(i)] for i in answer[2]], dtype=torch.int64)
    torn = {
        "inputs": int((answer[0] != inputs[home]).flatten(1).any(1).sum()),
        "labels": int((answer[1] != labels[home]).sum()),
    }
    if any(torn.values()):
        return wrong(
            ", ".join(f"{count} of {len(ids)} {name} away from their id" for name, count in torn.items()),
            "each id with the input and the label that it came with",
            "print the three orders side by side: are they one order?",
        )
    return None


def _not_random(orders: list[list[int]], n: int) -> Verdict | None:
    first, repeat, other = orders
    if first != repeat:
        return wrong(
            "the same seed gave two orders",
            "one seed, one order",
            "which generator draws your order, and who seeds it?",
        )
    if first == other:
        return wrong(
            "two seeds gave the same order", "another seed, another order", "does the seed reach the draw?"
        )
    for order in (first, other):
        steady = sum(abs(a - b) == 1 for a, b in zip(order, order[1:]))
        still = sum(position == home for position, home in enumerate(order))
        if max(steady, still) > n // 2:
            return wrong(
                f"{steady} neighbors of {n - 1} are still neighbors, {still} of {n} did not move",
                "a random order, in which few neighbors stay together",
                "a rotation, a reversal or a shuffle of a part is not a shuffle",
            )
    return None


def _data(g: torch.Generator, rng: random.Random, n: int, shape: tuple[int, ...], classes: int = 3) -> tuple:
    ids = torch.randperm(10 * n + 10, generator=g)[:n] + rng.randint(1, 1000)
    return torch.randn((n, *shape), generator=g), torch.randint(0, classes, (n,), generator=g), ids


def _seeds(rng: random.Random) -> list[int]:
    seed = rng.getrandbits(31)
    return [seed, seed, seed ^ (1 + rng.getrandbits(16))]


def _public_shuffle() -> Iterator[Case]:
    g, rng = torch.Generator().manual_seed(71), random.Random(71)
    yield Case("six examples", (*_data(g, rng, 6, (2,)), _seeds(rng)))
    yield Case("thirty small images", (*_data(g, rng, 30, (1, 4, 4)), _seeds(rng)))


def _hidden_shuffle(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    yield Case("rows of a table", (*_data(g, rng, rng.randint(24, 60), (5,)), _seeds(rng)))
    yield Case("color images", (*_data(g, rng, rng.randint(24, 40), (3, 4, 4)), _seeds(rng)))
    inputs, labels, ids = _data(g, rng, rng.randint(24, 40), (3,), classes=20)
    yield Case("float64 rows, int32 labels", (inputs.double(), labels.int(), ids, _seeds(rng)))
    yield Case("all inputs alike", (torch.ones_like(inputs), labels, ids, _seeds(rng)))
    yield Case("sorted by label", (inputs, labels.sort().values, ids.sort().values, _seeds(rng)))
    yield Case("a single example", (*_data(g, rng, 1, (3,)), _seeds(rng)))
    yield Case("more labels than usual", (*_data(g, rng, 50, (2,), classes=50), _seeds(rng)))


def expected_pairs(batches: list, table: dict[int, int]) -> list[tuple[int, int]]:
    """(batch index, id) of every example whose label is not the table's, in order."""
    found = []
    for index, (ids, labels) in enumerate(batches):
        found += [(index, i) for i, label in zip(ids.tolist(), labels.tolist()) if table.get(i) != label]
    return found


def judge_audit(case: Case, answer: Any) -> Verdict:
    """A decision on every example: none missed, none accused."""
    truth = expected_pairs(*case.args)
    group = "broken" if truth else "clean"
    want = "a list of (batch index, id), both ints, in the order in which they are met"
    if type(answer) is not list:
        return wrong(describe(answer), want, "compare what you return with the docstring", group=group)
    for pair in answer:
        if type(pair) not in (tuple, list) or [type(v) for v in pair] != [int, int]:
            inner = [describe(v) for v in pair] if type(pair) in (tuple, list) else describe(pair)
            kind = (
                "a pair with a numpy scalar"
                if any(isinstance(v, NumpyScalar) for v in _items(pair))
                else str(inner)
            )
            return wrong(
                kind, want, "an id from a tensor is a tensor until .item() or .tolist()", group=group
            )
    pairs = [tuple(pair) for pair in answer]
    missed, accused = len(set(truth) - set(pairs)), len(set(pairs) - set(truth))
    seen = f"{len(pairs)} pairs named: {missed} missed, {accused} named without cause"
    if pairs == truth:
        return right(seen, group=group)
    look = "take one example that you name, or miss, and look its id up in the table by hand"
    if not missed and not accused:
        look = "the right pairs, but in another order, or one of them twice"
    return wrong(
        seen, "every example whose label is not the one in the table, and no other", look, group=group
    )


def _items(pair: Any) -> tuple:
    return tuple(pair) if type(pair) in (tuple, list) else (pair,)


def _stream(ids: Tensor, labels: Tensor, sizes: list[int]) -> list[tuple[Tensor, Tensor]]:
    return list(zip(ids.split(sizes), labels.split(sizes)))


def _table(ids: Tensor, labels: Tensor) -> dict[int, int]:
    return dict(sorted(zip(ids.tolist(), labels.tolist())))


def _public_audit() -> Iterator[Case]:
    ids, labels = torch.tensor([40, 7, 19, 3]), torch.tensor([0, 1, 2, 0])
    table = _table(ids, labels)
    yield Case(
        "four examples in another order", (_stream(ids[[2, 0, 3, 1]], labels[[2, 0, 3, 1]], [2, 2]), table)
    )
    yield Case("labels rotated by one", (_stream(ids, labels.roll(1), [3, 1]), table))
    yield Case("equal labels traded places", (_stream(ids, labels[[3, 1, 2, 0]], [2, 2]), table))
    yield Case("an id nobody has registered", (_stream(torch.tensor([40, 8, 19, 3]), labels, [2, 2]), table))


def _hidden_audit(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    n = rng.randint(18, 30)
    _, labels, ids = _data(g, rng, n, (1,))
    sizes = [rng.randint(2, 5), rng.randint(3, 6)]
    sizes = [*sizes, n - sum(sizes)]
    table = _table(ids, labels)
    order = torch.randperm(n, generator=g)
    yield Case("as stored", (_stream(ids, labels, sizes), table))
    yield Case("one shuffle for both", (_stream(ids[order], labels[order], sizes), table))
    yield Case("int32 labels, one shuffle", (_stream(ids[order], labels[order].int(), sizes), table))
    within = torch.cat([torch.nonzero(labels == c).flatten().flip(0) for c in range(3)])
    back = torch.cat([torch.nonzero(labels == c).flatten() for c in range(3)])
    yield Case("labels traded within their class", (_stream(ids[back], labels[within], sizes), table))
    yield Case(
        "fewer examples than the table", (_stream(ids[order[:5]], labels[order[:5]], [2, 0, 3]), table)
    )
    yield Case("two shuffles", (_stream(ids[order], labels[torch.randperm(n, generator=g)], sizes), table))
    swapped = labels.clone()
    a, b = int((labels == labels[0]).nonzero()[0]), int((labels != labels[0]).nonzero()[0])
    swapped[[a, b]] = labels[[b, a]]
    yield Case("two labels swapped", (_stream(ids[order], swapped[order], sizes), table))
    yield Case("labels counted from one", (_stream(ids[order], labels[order] + 1, sizes), table))
    new = ids.clone()
    new[rng.randrange(n)] = int(ids.max()) + rng.randint(1, 9)
    yield Case("one id from another data set", (_stream(new[order], labels[order], sizes), table))
    late = labels[order].clone()
    late[-sizes[-1] :] = late[-sizes[-1] :].roll(1)
    late[-1] = (labels[order][-1] + 1) % 3
    yield Case("trouble in the last batch alone", (_stream(ids[order], late, sizes), table))


EXERCISES = (
    Exercise(
        id="7.1a",
        title="Shuffle pairs, not arrays",
        answer="joint_shuffle",
        points=2,
        minutes=3,
        level="core",
        claims=("7.1",),
        hints=(
            "Print ids before and after beside the labels before and after: does each id still stand beside"
            " its label?",
            "Count how many random orders your function draws in one call.",
            "Call it twice with one seed and once with another, and compare the three lists of ids.",
        ),
        public=_public_shuffle,
        hidden=_hidden_shuffle,
        judge=judge_shuffle,
        kind="probe",
        probe="shuffled",
    ),
    Exercise(
        id="7.1b",
        title="Audit the pairs by id",
        answer="audit_pairs",
        points=2,
        minutes=3,
        level="core",
        claims=("7.1",),
        hints=(
            "Print the ids, the labels and the table for the smallest failing case, and mark the wrong "
            "pairs by hand.",
            "What type has an id when it comes out of the tensor, and what type has a key of the table?",
            "Try an id that the table does not have, an empty batch, and labels of another integer dtype.",
        ),
        public=_public_audit,
        hidden=_hidden_audit,
        judge=judge_audit,
        score=decisions,
    ),
)
