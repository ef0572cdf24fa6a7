"""2.14: apply an operation where it is valid, without the derivative of where it is not."""

from __future__ import annotations

import random
from functools import partial
from typing import Any, Callable

import torch

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong

# name: (value, derivative, inside: a range of arguments well in the domain, outside: invalid arguments)
OPS: dict[str, tuple[Callable, Callable, tuple[float, float], tuple[float, ...]]] = {
    "sqrt": (torch.sqrt, lambda x: 0.5 * x**-0.5, (0.2, 4.0), (-1.0, 0.0, -3.0)),
    "log": (torch.log, lambda x: 1 / x, (0.2, 4.0), (0.0, -2.0)),
    "reciprocal": (torch.reciprocal, lambda x: -(x**-2.0), (0.2, 4.0), (0.0,)),
    "rsqrt": (torch.rsqrt, lambda x: -0.5 * x**-1.5, (0.2, 4.0), (0.0, -1.0)),
    "acos": (torch.acos, lambda x: -((1 - x * x) ** -0.5), (-0.8, 0.8), (1.5, -2.0)),
    "asin": (torch.asin, lambda x: (1 - x * x) ** -0.5, (-0.8, 0.8), (-1.2, 3.0)),
    "power": (lambda x: x**0.3, lambda x: 0.3 * x**-0.7, (0.2, 4.0), (0.0, -1.0)),
}


def expected(op: str, w: torch.Tensor, features: torch.Tensor, valid: torch.Tensor) -> tuple:
    """float64 (value, gradient, size): size bounds what the gradient's terms may add up to."""
    value_of, slope_of, _, _ = OPS[op]
    rows = features.double()[valid]
    x = rows @ w.double()
    value = torch.zeros(len(features), dtype=torch.float64)
    value[valid] = value_of(x)
    terms = slope_of(x)[:, None] * rows
    return value, terms.sum(0), terms.abs().sum(0)


def judge(case: Case, answer: Any) -> Verdict:
    _, w, features, valid = case.args
    value, gradient, size = expected(*case.args)
    wanted = "(value, gradient): op(features @ w) where valid and 0 elsewhere; the derivative of its sum by w"
    if type(answer) is not tuple or len(answer) != 2:
        return wrong(describe(answer), wanted, "return a tuple of two tensors, as the stub's last line does")
    for what, got, want in (("value", answer[0], value), ("gradient", answer[1], gradient)):
        if not isinstance(got, torch.Tensor) or got.dtype != torch.float32 or got.shape != want.shape:
            return wrong(f"{what}: {describe(got)}", f"float32 of shape {tuple(want.shape)}",
                         f"features are {describe(features)}; w is {describe(w)}")  # fmt: skip
    got = answer[0].double()
    fails = ~((got - value).abs() <= 1e-4 * (1 + value.abs()))
    if bool(fails.any()):
        row = int(fails.nonzero()[0])
        return wrong(f"value[{row}] is {float(got[row]):.6g}, valid[{row}] is {bool(valid[row])}", wanted,
                     "rows that are valid keep their own number, and all others are exactly 0")  # fmt: skip
    if bool((answer[0][~valid] != 0).any()):
        return wrong(
            "a value that is not exactly 0 in an invalid row", wanted, "which fill value do you choose?"
        )
    got = answer[1].double()
    if not bool(((got - gradient).abs() <= 1e-3 * size).all()):
        numbers = ", ".join(f"{v:.6g}" for v in got.tolist())
        look = (
            "the value is right and the derivative is not: which argument does the operation see in an invalid row?"
            if not bool(torch.isfinite(got).all())
            else "finite, but another number than the valid rows alone give: what was replaced, and where?"
        )
        return wrong(f"gradient [{numbers}]", wanted, look)
    return right("value and gradient agree with the valid rows alone", wanted)


def _case(name: str, op: str, seed: int, share: float = 0.5, spare: bool = False) -> Case:
    """Twelve rows of two features; a share of them is valid.

    spare: rows are invalid although the operation is defined there, as with padding.
    """
    g = torch.Generator().manual_seed(seed)
    low, high = OPS[op][2]
    outside = torch.tensor(OPS[op][3])
    valid = torch.arange(12) < round(12 * share)
    valid = valid[torch.randperm(12, generator=g)]
    x = low + (high - low) * torch.rand(12, generator=g)
    if not spare:
        x = torch.where(valid, x, outside[torch.arange(12) % len(outside)])
    w = torch.randn(2, generator=g)
    w[1] = w[1].sign() * (0.5 + w[1].abs())
    first = torch.randn(12, generator=g)
    features = torch.stack([first, (x - first * w[0]) / w[1]], 1)
    features[(x == 0)] = 0  # so that features @ w is exactly 0
    return Case(name, (op, w, features, valid))


def public() -> list[Case]:
    return [
        _case("sqrt, half of the rows valid", "sqrt", 1),
        _case("sqrt, all rows valid", "sqrt", 2, share=1.0),
        _case("log, half of the rows valid", "log", 3),
    ]


def hidden(rng: random.Random) -> list[Case]:
    seed = partial(rng.getrandbits, 62)
    cases = [_case(f"{op}, some rows valid", op, seed(), share=rng.uniform(0.2, 0.8)) for op in OPS]
    op = rng.choice(list(OPS))
    return [
        *cases,
        _case(f"{op}, no row valid", op, seed(), share=0.0),
        _case("acos, one row invalid", "acos", seed(), share=11 / 12),
        _case("reciprocal, padding that would be harmless", "reciprocal", seed(), spare=True),
    ]


EXERCISES = (
    Exercise(
        id="2.14",
        title="Make the input safe first",
        answer="masked_op",
        points=4,
        minutes=5,
        level="core",
        claims=("2.14",),
        hints=(
            "Keep features @ w in a name of its own, call retain_grad() on it, and look at its gradient row "
            "by row: which rows are not finite?",
            "Follow one such row backward: what does the mask hand to the operation, what is the operation's "
            "derivative there, and what is their product?",
            "The mask comes too late. At which point would a replacement keep the operation from ever seeing "
            "that row's argument?",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
    ),
)
