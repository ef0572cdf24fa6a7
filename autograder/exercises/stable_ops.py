"""2.12: repair expressions that overflow or take the logarithm of a rounded zero."""

from __future__ import annotations

import random
from typing import Any, Callable

import torch

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong

# --- float64 references: value, and gradient of the value's sum, both written out ----------------


def _log_softmax(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    log_p = z - torch.logsumexp(z, -1, keepdim=True)
    return log_p, 1 - z.shape[-1] * log_p.exp()


def _logsumexp(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    value = torch.logsumexp(z, -1)
    return value, (z - value[..., None]).exp()


def _softplus(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return z.clamp(min=0) + (-z.abs()).exp().log1p(), torch.sigmoid(z)


def _log_not(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    value, slope = _softplus(z)
    return -value, -slope


def _entropy(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    log_p, _ = _log_softmax(z)
    p = log_p.exp()
    value = -(p * log_p).sum(-1)
    return value, -p * (log_p + value[..., None])


REFERENCES: dict[str, Callable] = {
    "log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "softplus": _softplus,
    "log_not": _log_not,
    "entropy": _entropy,
}


def judge(case: Case, answer: Any) -> Verdict:
    name, z = case.args
    value, gradient = REFERENCES[name](z.double())
    wanted = "(value, gradient), float32 tensors equal to the expression in exact arithmetic up to rounding"
    if type(answer) is not tuple or len(answer) != 2:
        return wrong(describe(answer), wanted, "return a tuple of two tensors, as the stub's last line does")
    for what, got, want in (("value", answer[0], value), ("gradient", answer[1], gradient)):
        if not isinstance(got, torch.Tensor) or got.dtype != torch.float32 or got.shape != want.shape:
            return wrong(f"{what}: {describe(got)}", f"float32 of shape {tuple(want.shape)}",
                         f"z is {describe(z)}; which dimension is reduced?")  # fmt: skip
        # z is rounded: neither a value nor a gradient can be better than the last digit of its largest entry
        scale = z.double().abs().amax(-1, keepdim=want.dim() == z.dim())
        verdict = _compare(what, got.double(), want, 1e-5 + 1e-6 * scale, z, wanted)
        if verdict:
            return verdict
    return right("value and gradient agree with float64", wanted)


def _compare(what: str, got: torch.Tensor, want: torch.Tensor, allowed: Any, z: torch.Tensor,
             wanted: str) -> Verdict | None:  # fmt: skip
    error = (got - want).abs()
    fails = ~(error <= allowed + 1e-5 * want.abs())  # a nan fails
    if not bool(fails.any()):
        return None
    index = tuple(int(i) for i in fails.nonzero()[0])
    row = z[index[: z.dim() - 1]] if want.dim() == z.dim() else z[index]
    text = ", ".join(f"{v:.4g}" for v in row.tolist())
    finite = bool(torch.isfinite(got[index]))
    count = f"{int(fails.sum())} of {fails.numel()} wrong"
    return wrong(
        f"{what}{list(index)} is {float(got[index]):.6g} for z = [{text}] ({count})",
        wanted,
        "which intermediate of this expression rounds to 0 or overflows for that row?"
        if not finite
        else "finite but another number: has an epsilon, a clamp or a replaced nan changed the function?",
    )


def _logits(g: torch.Generator, classes: int) -> torch.Tensor:
    """(16, classes) float32 logits: ordinary rows first, then every way of being extreme."""

    def normal(rows: int, scale: float, shift: float = 0.0) -> torch.Tensor:
        return scale * torch.randn(rows, classes, generator=g) + shift

    size = float(300 + 700 * torch.rand((), generator=g))
    ties = torch.tensor([[2000.0], [-2000.0]]).expand(2, classes)
    # 95 is just past the range of exp in float32, and exp(-110) is below its smallest number
    edges = [normal(1, 1.0, 95.0), normal(1, 1.0, -110.0)]
    return torch.cat(
        [normal(4, 2.0), normal(4, 1000.0), normal(2, 2.0, size), normal(2, 2.0, -size), ties, *edges]
    )


def _case(name: str, classes: int, seed: int) -> Case:
    z = _logits(torch.Generator().manual_seed(seed), classes)
    return Case(f"{name}: ordinary and extreme rows of {classes}", (name, z))


def public() -> list[Case]:
    return [
        Case("log_softmax of (1000, -1000)", ("log_softmax", torch.tensor([[1000.0, -1000.0], [1.0, 2.0]]))),
        _case("softplus", 3, 2),
        _case("entropy", 4, 3),
    ]


def hidden(rng: random.Random) -> list[Case]:
    sizes = (2, rng.randint(3, 5), rng.randint(6, 9))
    return [_case(name, classes, rng.getrandbits(62)) for name in REFERENCES for classes in sizes]


EXERCISES = (
    Exercise(
        id="2.12",
        title="Repair the operation",
        answer="repaired",
        points=4,
        minutes=6,
        level="stretch",
        claims=("2.12",),
        hints=(
            "For one failing row, print every intermediate of the expression: which one is 0 or inf first, "
            "and which exact number does it stand for?",
            "Rewrite the expression on paper until that intermediate never appears; the logarithm and the "
            "exponential may cancel. torch.nn.functional has a fused form of several of them.",
            "If the value is right and the gradient is not, look for a where, a clamp or a product of 0 and "
            "inf between z and the value.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
    ),
)
