"""Exercise 4.5: the statistics of a scaler, from the training rows alone."""

from __future__ import annotations

import random
from typing import Any, Iterator

import torch

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong

NAN = float("nan")


def public() -> Iterator[Case]:
    g = torch.Generator().manual_seed(45)
    yield _case("validation rows measured elsewhere", g, shift=3.0)
    yield _case("a constant column and missing values", g, shift=1.0, constant=0.1, missing=0.2)


def hidden(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    yield _case("validation rows far away", g, shift=40.0)
    yield _case("validation rows like the training rows", g, shift=0.0, n=40)
    yield _case("a column constant in training alone", g, shift=2.0, constant=-0.7, varies=True)
    yield _case("a column without any value in training", g, shift=1.0, empty=True, missing=0.1)
    yield _case("columns of large numbers that vary little", g, shift=1.0, n=34, offset=2.0**20)
    yield _case("a column that varies by 0.00001", g, shift=1.0, small=1e-5)
    yield _case("a single training row", g, shift=1.0, train=1)
    yield _case("missing values in every column", g, shift=5.0, missing=0.4, n=30)


def _case(
    name: str,
    g: torch.Generator,
    shift: float,
    n: int = 24,
    train: int | None = None,
    constant: float | None = None,
    varies: bool = False,
    missing: float = 0.0,
    empty: bool = False,
    offset: float = 0.0,
    small: float = 1.0,
) -> Case:
    """A table whose rows of the two splits are mixed, as they are after a shuffle."""
    rows = torch.randn(n, 4, generator=g) * torch.tensor([1.0, 5.0, small, 0.3]) + torch.tensor(
        [0.0, 20.0, 0.0, -2.0]
    )
    is_train = torch.zeros(n, dtype=torch.bool)
    is_train[torch.randperm(n, generator=g)[: train or (2 * n) // 3]] = True
    rows[~is_train] += shift
    rows += offset  # the rows lose little of their spread in float32; sums of squares lose all of it
    if missing:
        rows[torch.rand(n, 4, generator=g) < missing] = NAN
    if constant is not None:
        rows[is_train if varies else slice(None), 0] = constant
    if empty:
        rows[is_train, 1] = NAN
    return Case(name, (rows, is_train))


def _expected(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    rows, is_train = case.args
    means, stds = [], []
    for column in rows[is_train].double().T:
        values = column[~column.isnan()]
        mean = values.mean().item() if len(values) else 0.0
        spread = ((values - mean) ** 2).mean().sqrt().item() if len(values) else 0.0
        constant = not len(values) or bool((values == values[0]).all())
        means.append(mean)
        stds.append(1.0 if constant else spread)
    return torch.tensor(means, dtype=torch.float64), torch.tensor(stds, dtype=torch.float64)


def judge(case: Case, answer: Any) -> Verdict:
    if type(answer) is not tuple or len(answer) != 2:
        return wrong(describe(answer), "a tuple (mean, std)", "look at the return line")
    for name, value in zip(("mean", "std"), answer):
        if type(value) is not torch.Tensor or value.shape != (4,) or value.dtype != torch.float64:
            return wrong(
                f"{name}: {describe(value)}",
                "a float64 tensor with one number for each column",
                "compare shape and dtype with the docstring",
            )
    mean, std = _expected(case)
    off_mean = _off((answer[0] - mean).abs() <= 1e-6 * std + 1e-12 * mean.abs())
    off_std = _off((answer[1] - std).abs() <= 1e-6 * std)
    seen = f"mean {_numbers(answer[0])}, std {_numbers(answer[1])}"
    if off_mean:
        return wrong(
            f"{seen}; mean off in column {off_mean}",
            "the mean of the training rows' values",
            "change one validation row: does your mean change?",
        )
    if off_std:
        return wrong(
            f"{seen}; std off in column {off_std}",
            "the training rows' own spread, divided by their number; 1 where there is none",
            "print that column's training values, how many they are and how far they lie apart",
        )
    return right(seen)


def _off(good: torch.Tensor) -> str:
    return ", ".join(str(i) for i, ok in enumerate(good.tolist()) if not ok)


def _numbers(values: torch.Tensor) -> str:
    return "[" + ", ".join(f"{v:.6g}" for v in values.tolist()) + "]"


EXERCISES = (
    Exercise(
        id="4.5",
        title="A scaler that has seen the training rows alone",
        answer="fit_scaler",
        points=2,
        minutes=4,
        level="stretch",
        claims=("4.5",),
        hints=(
            "Change one validation row and call your function again; nothing may change.",
            "Try a column of one repeated number, a column of NaN, and a single row: what does your std say?",
            "Add a million to a column: its spread is the same. If yours is not, ask in which precision "
            "the differences are taken.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
    ),
)
