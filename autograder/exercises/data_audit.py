"""Exercise 6.6: an audit of a batch that names each planted fault and no other."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any, Iterator

import torch

from ..result import Case, Verdict
from .base import Exercise, decisions, describe, right, wrong

FAULTS = ("misaligned label", "nan", "class out of range", "all targets masked", "wrong shape")
IGNORE, CLASSES, STEPS = -100, 5, 4


def public() -> Iterator[Case]:
    g = torch.Generator().manual_seed(66)
    yield _case("a batch of six", g, 6)
    yield _case("a batch of five", g, 5, "nan")
    yield _case("a batch of four", g, 4, "all targets masked")
    yield _case("a batch of seven", g, 7, "wrong shape", "class out of range")


def hidden(rng: random.Random) -> Iterator[Case]:
    """Every fault alone, every pair, and as many healthy batches of several kinds."""
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    plans: list[tuple] = [(f,) for f in FAULTS] + list(itertools.combinations(FAULTS, 2))
    plans += [(f,) for f in FAULTS[:3]]  # drawn again: these have several shapes
    turns: Counter = Counter()  # each variant of a fault gets its turn
    cases = [_case("", g, rng.randint(4, 9), *plan, turns=turns) for plan in plans]
    cases += [_case("", g, rng.randint(2, 9)) for _ in range(2)]
    cases += [_case("", g, 5, extreme=kind) for kind in ("partly masked", "edge classes", "huge", "unmasked")]
    rng.shuffle(cases)
    for k, case in enumerate(cases, 1):  # a name that told the kind would tell the truth
        yield Case(f"batch {k} of {len(cases)}", case.args, case.truth)


def _case(
    name: str, g: torch.Generator, n: int, *faults: str, extreme: str = "", turns: Counter | None = None
) -> Case:
    """A batch of n examples with its spec and reference labels, and the faults planted in it."""
    numbers = torch.randperm(900, generator=g)[: n + 3].tolist()
    ids = [f"img{100 + i}" for i in numbers]
    table = torch.randint(0, CLASSES, (n + 3, STEPS), generator=g)
    reference = {i: row for i, row in zip(ids, table.tolist())}  # more ids than the batch holds
    x = torch.randn(n, 3, 4, 6, generator=g)
    targets = table[:n].clone()
    if extreme != "unmasked":
        hide = torch.rand(n, STEPS, generator=g) < (0.6 if extreme == "partly masked" else 0.25)
        hide[torch.arange(n), torch.randint(0, STEPS, (n,), generator=g)] = False
        targets[hide] = IGNORE
    if extreme == "edge classes":
        reference.update({i: [0, CLASSES - 1] * (STEPS // 2) for i in ids})
        targets = torch.tensor([reference[i] for i in ids[:n]])
    if extreme == "huge":
        x = x * 1e30
    rows = torch.randperm(n, generator=g).tolist()  # each fault in a row of its own
    turns = Counter() if turns is None else turns
    for fault in sorted(
        faults, key=FAULTS.index, reverse=True
    ):  # the shape first, or it might cut a NaN away
        x = _PLANT[fault](g, x, targets, rows.pop(), turns[fault] % 4)
        turns[fault] += 1
    batch = {"ids": ids[:n], "x": x, "targets": targets}
    spec = {"shape": (3, 4, 6), "classes": CLASSES, "ignore_index": IGNORE}
    return Case(name, (batch, spec, reference), tuple(sorted(faults)))


def _pick(g: torch.Generator, n: int) -> int:
    return int(torch.randint(0, n, (), generator=g))


def _misalign(
    g: torch.Generator, x: torch.Tensor, targets: torch.Tensor, row: int, turn: int
) -> torch.Tensor:
    """One scored target becomes another class of the range."""
    scored = (targets[row] != IGNORE).nonzero().flatten().tolist()
    step = scored[_pick(g, len(scored))]
    targets[row, step] = (targets[row, step] + 1 + _pick(g, CLASSES - 1)) % CLASSES
    return x


def _nan(g: torch.Generator, x: torch.Tensor, targets: torch.Tensor, row: int, turn: int) -> torch.Tensor:
    x[row].view(-1)[_pick(g, x[row].numel())] = float("nan")
    return x


def _out_of_range(
    g: torch.Generator, x: torch.Tensor, targets: torch.Tensor, row: int, turn: int
) -> torch.Tensor:
    targets[row, _pick(g, STEPS)] = (CLASSES, -1, -101, 255)[turn]
    return x


def _mask_all(
    g: torch.Generator, x: torch.Tensor, targets: torch.Tensor, row: int, turn: int
) -> torch.Tensor:
    targets[row] = IGNORE
    return x


def _reshape(g: torch.Generator, x: torch.Tensor, targets: torch.Tensor, row: int, turn: int) -> torch.Tensor:
    return (x.permute(0, 2, 3, 1).contiguous(), x[:, :1].clone(), x.flatten(1), x.unsqueeze(1))[turn]


_PLANT = {
    "misaligned label": _misalign,
    "nan": _nan,
    "class out of range": _out_of_range,
    "all targets masked": _mask_all,
    "wrong shape": _reshape,
}


def judge(case: Case, answer: Any) -> Verdict:
    group = "+".join(case.truth)
    if type(answer) is not list or any(type(name) is not str for name in answer):
        return wrong(describe(answer), "a list of fault names", "a healthy batch gives []", group=group)
    seen = ", ".join(sorted(answer)) or "no fault"
    strange = [name for name in answer if name not in FAULTS]
    if strange:
        return wrong(
            f"{seen[:200]}; unknown: {strange[0][:40]!r}",
            f"names from: {', '.join(FAULTS)}",
            "copy the names from the docstring",
            group=group,
        )
    if len(set(answer)) < len(answer):
        return wrong(
            f"{seen}; a name twice", "each name once, however many rows have the fault", "", group=group
        )
    missed, false = set(case.truth) - set(answer), set(answer) - set(case.truth)
    if missed or false:
        parts = [
            f"{len(s)} {word}" for s, word in ((false, "reported though absent"), (missed, "missed")) if s
        ]
        return wrong(
            f"{seen}: {' and '.join(parts)}",
            "each fault in the batch, and no other",
            _look(missed, false),
            group=group,
        )
    return right(seen, group=group)


def _look(missed: set, false: set) -> str:
    """The next diagnostic, in words that hold for all five rules alike."""
    if false:
        return f"which element made the rule {sorted(false)[0]!r} fire, and is it against the docstring?"
    return "for each rule, break a healthy batch by hand in the smallest way, and see whether the rule fires"


EXERCISES = (
    Exercise(
        id="6.6",
        title="An audit with a name for each fault",
        answer="audit",
        points=4,
        minutes=8,
        level="core",
        claims=("6.6",),
        hints=(
            "Write each rule as one expression that is True for a bad batch; break a healthy batch once for each.",
            "A class out of range and a target left out on purpose are both outside 0..classes-1; tell them apart.",
            "Compare with the reference by id, and only where the target is a class at all; ask about masking row "
            "by row.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
        score=decisions,
    ),
)
