"""Cases of exercise 9.1: batches, chains of operations, predictions, losses, and programs that record memory."""

from __future__ import annotations

import math
import random
from typing import Iterator

import torch
import torch.nn.functional as F

from ..result import Case


def _generator(rng: random.Random) -> torch.Generator:
    return torch.Generator().manual_seed(rng.getrandbits(62))


# Q1


def batches(rng: random.Random, public: bool = False) -> Iterator[Case]:
    """Batches that a linear layer can memorize; some hold equal inputs, some only close ones."""
    if public:
        yield _named(torch.eye(8), torch.arange(8) % 3, 3)
        yield _named(*_clouds(rng, 2, 3, 10, "equal"))
        return
    for width, classes, copies in ((2, 3, "equal"), (2, 4, "none"), (2, 4, "close"), (3, 2, "beside"),
                                   (3, 3, "close"), (6, 5, "none"), (4, 3, "equal"), (2, 2, "none")):  # fmt: skip
        yield _named(*_clouds(rng, width, classes, rng.randint(10, 16), copies))


def _named(x: torch.Tensor, y: torch.Tensor, classes: int) -> Case:
    return Case(f"{len(x)} inputs of {x.shape[1]} numbers, {classes} classes", (x, y, classes))


def _clouds(rng: random.Random, width: int, classes: int, count: int, copies: str) -> tuple:
    """Inputs around centers on a circle (in any width): separable by a linear layer, in few ways only."""
    g = _generator(rng)
    angle = 2 * math.pi * (torch.arange(classes) / classes + rng.random())
    centers = torch.zeros(classes, width)
    centers[:, 0], centers[:, 1] = 3 * angle.cos(), 3 * angle.sin()
    y = torch.arange(count) % classes
    x = centers[y] + 0.3 * torch.randn(count, width, generator=g)
    if copies != "none":
        # a copy of one row, or of a row of each class: the first rows are of different classes
        rows = torch.randperm(classes, generator=g)[: classes if copies == "equal" else 1]
        shift = 1e-3 if copies == "close" else 0.0
        x, y = torch.cat([x, x[rows] + shift]), torch.cat([y, y[rows]])
    while True:
        order = torch.randperm(len(y), generator=g)
        beside = torch.isclose(x[order][1:], x[order][:-1], atol=1e-2).all(dim=1).any()
        if bool(beside) == (copies == "beside"):
            return x[order], y[order], classes


# Q2: chains, and the kinds of numbers they start from

_CHAINS = (
    ("zero", ("sqrt",)), ("zero", ("sqrt", "exp")), ("zero", ("sqrt", "square")), ("zero", ("sqrt", "relu")),
    ("zero", ("square", "sqrt")), ("zero", ("reciprocal",)), ("zero", ("log",)), ("zero", ("log", "exp")),
    ("zero", ("exp", "sqrt")), ("negative", ("sqrt",)), ("negative", ("sqrt", "nan_to_num")),
    ("negative", ("log",)), ("negative", ("log", "nan_to_num")), ("negative", ("relu", "sqrt")),
    ("negative", ("square", "sqrt")), ("negative", ("exp", "log")), ("negative", ("abs", "sqrt", "log")),
    ("large", ("exp",)), ("large", ("exp", "reciprocal")), ("large", ("log", "exp")), ("large", ("sigmoid", "log")),
    ("huge", ("square",)), ("huge", ("square", "sqrt")), ("huge", ("sqrt", "log")), ("ordinary", ("square", "log")),
)  # fmt: skip
_PUBLIC_CHAINS = (("negative", ("sqrt",)), ("zero", ("reciprocal",)), ("ordinary", ("exp", "sqrt")))


def chains(rng: random.Random, public: bool = False) -> Iterator[Case]:
    """Every chain once, one special number among ordinary ones."""
    for kind, ops in _PUBLIC_CHAINS if public else rng.sample(_CHAINS, len(_CHAINS)):
        values = [round(rng.uniform(0.5, 3.0), 2) for _ in range(rng.randint(1, 3))]
        values.insert(rng.randint(0, len(values)), _special(rng, kind))
        yield Case(f"{values}, {', '.join(ops)}", (values, list(ops)))


def _special(rng: random.Random, kind: str) -> float:
    if kind == "zero":
        return 0.0
    number = {"negative": rng.uniform(-4, -0.5), "large": rng.uniform(120, 400), "ordinary": rng.uniform(1, 4)}
    return 10.0 ** rng.randint(25, 35) if kind == "huge" else round(number[kind], 2)


# Q3


def predictions(rng: random.Random, public: bool = False) -> Iterator[Case]:
    """Logits with targets: uniform, alike in each row, different by row, and of another mean loss."""
    kinds = ["uniform", "same", "rows", "off"] * (1 if public else 3)
    if not public:
        kinds += ["uniform", "same", "off", "excluded"]
    rng.shuffle(kinds)
    for number, kind in enumerate(kinds):
        classes = 20 if kind == "excluded" else rng.choice([3, 4, 10, 20] if number % 2 else [2, 5, 7])
        logits, targets = _logits(rng, kind, 60 if kind == "excluded" else rng.randint(16, 48), classes)
        if number % 3 == 0:  # changes no probability
            logits = logits + 8 * torch.randn(len(logits), 1, generator=_generator(rng))
        loss = F.cross_entropy(logits.double(), targets).item()
        yield Case(f"{len(targets)} rows, {classes} classes, mean loss {loss:.3f}", (logits, targets))


def _logits(rng: random.Random, kind: str, rows: int, classes: int) -> tuple[torch.Tensor, torch.Tensor]:
    g = _generator(rng)
    targets = torch.randint(0, classes, (rows,), generator=g)
    if kind == "uniform":
        return 0.01 * torch.rand(rows, classes, generator=g), targets
    if kind == "same":  # right about the commonest class, and too sure of it
        targets[: rows // 2] = 0
        shape = torch.zeros(classes)
        shape[0] = 1.0
        shape = shape.expand(rows, classes)
    elif kind == "excluded":  # a row excludes one class, of the second row the target, and of the first none
        excluded = (targets + 1) % classes
        excluded[1] = targets[1]
        shape = -F.one_hot(excluded, classes).float()
        shape[0] = 0.0
    else:  # right about most rows, and sure of the wrong ones
        shape = 0.3 * torch.randn(rows, classes, generator=g)
        guess = torch.where(torch.rand(rows, generator=g) < 0.25, (targets + 1) % classes, targets)
        guess[0] = (targets[0] + 1) % classes
        shape = shape + F.one_hot(guess, classes)
    scale = _scale(shape, targets)
    if not 1 <= scale < 50:  # hardly right at all, so almost uniform there; or right everywhere
        return _logits(rng, kind, rows, classes)
    if kind == "off":
        scale *= rng.choice([0.4, 1.5])
        while abs(F.cross_entropy(scale * shape, targets).item() - math.log(classes)) < 0.1:
            scale *= 1.3  # at the latest, sure enough to be dearly wrong
    return (scale * shape).contiguous(), targets


def _scale(shape: torch.Tensor, targets: torch.Tensor) -> float:
    """The factor above 0 at which the mean loss is log C again: it first falls, then rises for good."""

    def above(scale: float) -> bool:
        return F.cross_entropy(scale * shape.double(), targets).item() > math.log(shape.shape[1])

    low, high = 0.1, 1.0
    while high < 100 and not above(high):
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return high


# Q4: losses well on either side of the smallest number of each dtype, and of a flush of subnormal ones

_LOSSES = (
    (torch.float32, (20, 80), (120, 3000)),
    (torch.float64, (150, 600), (800, 9000)),
    (torch.float16, (4, 9), (20, 4000)),
    (torch.bfloat16, (20, 80), (120, 3000)),
)


def losses(rng: random.Random, public: bool = False) -> Iterator[tuple]:
    """(loss, target, classes, dtype): ordinary and extreme, from two classes to a thousand."""
    if public:
        yield from ((2000.0, 1, 2, torch.float32), (40.0, 0, 3, torch.float32), (40.0, 2, 3, torch.float16))
        return
    drawn = [(dtype, span) for dtype, *spans in _LOSSES for span in spans for _ in range(2)]
    rng.shuffle(drawn)
    for number, (dtype, (low, high)) in enumerate(drawn):
        classes = 1000 if number == 0 and low > 19 else rng.randint(2, 9)
        yield float(rng.randint(low, high)), rng.randrange(classes), classes, dtype


# Q5

RECORDS = ("_record_memory_history()", "_record_memory_history(max_entries=100_000)")
STOP = "_record_memory_history(enabled=None)"
FAILS = "step_that_fails()"
HARMLESS = ("training_step()", "empty_cache()", "reset_peak_memory_stats()", "memory_summary()")
_REC, _DUMP = "record", "dump"
_PROGRAMS = (
    ((_REC,), (_DUMP,), (STOP,), ()),
    ((_REC,), (FAILS, _DUMP), (STOP,), ()),
    ((_REC,), (FAILS,), (_DUMP, STOP), ()),
    ((_REC,), (_DUMP, FAILS), (), (STOP,)),
    ((_REC,), (_DUMP,), (), (STOP,)),
    ((_REC,), (), (STOP, _DUMP), ()),
    ((), (_DUMP,), (), ()),
    ((_REC,), (), (), (_DUMP,)),
    ((_REC, FAILS), (_DUMP,), (STOP,), ()),
    ((_REC,), (), (FAILS, STOP), (_DUMP,)),
    ((_REC, _REC), (), (STOP,), (_DUMP,)),
    ((), (FAILS, _REC), (_DUMP,), ()),
    ((_DUMP, _REC), (_DUMP,), (_DUMP,), (STOP, _DUMP)),
    ((_REC, STOP), (_DUMP,), (_REC,), (_DUMP,)),
    ((STOP,), (_REC, FAILS), (_DUMP,), (STOP,)),
    ((_REC,), ("empty_cache()",), ("reset_peak_memory_stats()",), ()),
)
_PUBLIC_PROGRAMS = (
    ((_REC,), ("training_step()", _DUMP), (STOP,), ()),
    ((_REC,), (FAILS, _DUMP), (), (STOP,)),
    ((), ("training_step()", _DUMP), ("empty_cache()",), ()),
)
_BLOCKS = ("before", "try", "finally", "after")


def programs(rng: random.Random, public: bool = False) -> Iterator[Case]:
    """Each shape of program once, with harmless calls strewn in, and some put together at random."""
    if public:
        shapes: list = list(_PUBLIC_PROGRAMS)
    else:
        shapes = [*_PROGRAMS, *(_random(rng) for _ in range(6))]
        rng.shuffle(shapes)
    for number, shape in enumerate(shapes, 1):
        program = _written(rng, shape, strew=not public)
        sizes = ", ".join(f"{len(program[block])} in {block}" for block in _BLOCKS)
        yield Case(f"program {number}: calls {sizes}", (program,))


def _random(rng: random.Random) -> tuple:
    pool = (_REC, _REC, _DUMP, _DUMP, STOP, FAILS)
    return tuple(tuple(rng.choice(pool) for _ in range(rng.randint(0, 2))) for _ in _BLOCKS)


def _written(rng: random.Random, shape: tuple, strew: bool) -> dict[str, list[str]]:
    program, names = {}, iter(rng.sample("abcdefghij", 10))
    for block, calls in zip(_BLOCKS, shape):
        lines = []
        for call in calls:
            if strew and rng.random() < 0.4:
                lines.append(rng.choice(HARMLESS))
            if call == _DUMP:
                call = f'_dump_snapshot("{next(names)}.pickle")'
            lines.append(rng.choice(RECORDS) if call == _REC else call)
        program[block] = lines
    return program
