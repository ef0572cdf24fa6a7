"""7.2: log-probabilities of labels that stay right, value and gradient, for any finite logits."""

from __future__ import annotations

import math
import random
from typing import Any, Iterator

import torch
from torch import Tensor

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong


def reference(logits: Tensor, labels: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Value and gradient of the weighted sum in float64, from the differences to the largest logit."""
    z = logits.double()
    z = z - z.max(1, keepdim=True).values
    total = z.exp().sum(1, keepdim=True)
    value = (z - total.log()).gather(1, labels[:, None]).squeeze(1)
    hot = torch.zeros_like(z).scatter_(1, labels[:, None], 1.0)
    return value, weights.double()[:, None] * (hot - z.exp() / total)


def judge(case: Case, evidence: Any) -> Verdict:
    """Type, shape and dtype; then the value; then the gradient."""
    logits, labels, weights = case.args
    value, gradient = evidence["value"], evidence["gradient"]
    want = "one log-probability for each example, in the logits' dtype"
    if not isinstance(value, Tensor) or value.shape != labels.shape or value.dtype != logits.dtype:
        return wrong(describe(value), want, "compare shape and dtype with the docstring's")
    true_value, true_gradient = reference(logits, labels, weights)
    finite = logits[torch.isfinite(logits)].abs().max().item()
    eps = torch.finfo(logits.dtype).eps
    rounding = 8 * eps * finite  # a difference of large logits keeps no more than this
    bad = _worst(value, true_value, rounding + 1e-6)
    if bad is not None:
        index, seen = bad
        row = ", ".join(f"{v:.6g}" for v in logits[index].tolist())
        return wrong(
            f"{seen:.6g} for logits ({row}) and label {int(labels[index])}",
            "the log of the label's softmax probability, also where that probability rounds to zero",
            "follow this row by hand: what has been rounded away before the logarithm sees it?",
        )
    if not isinstance(gradient, Tensor):
        return wrong("no gradient reaches the logits", "a differentiable result",
                     "what cut the graph: no_grad, detach, item, or numpy?")  # fmt: skip
    bad = _worst(gradient.reshape(-1), true_gradient.reshape(-1), rounding + 1e-5)
    if bad is not None:
        row = bad[0] // logits.shape[1]
        return wrong(
            f"gradient {[round(v, 6) for v in gradient[row].tolist()]} on row {row}",
            "finite, equal to weight * (one-hot of the label - softmax)",
            "a value can be right while the derivative of one of its steps is not: which step meets 0 or "
            "inf?",
        )
    return right(f"values from {value.min():.6g} to {value.max():.6g}, gradient finite and right")


def _worst(seen: Tensor, truth: Tensor, slack: float) -> tuple[int, float] | None:
    """(index, value) of the first entry that is off, or None."""
    for index, (a, b) in enumerate(zip(seen.double().tolist(), truth.tolist())):
        if not abs(a - b) <= slack + 1e-5 * abs(b):  # NaN fails this too
            return index, a
    return None


def _case(name: str, g: torch.Generator, logits: Tensor, labels: Tensor | None = None) -> Case:
    if labels is None:
        labels = torch.randint(0, logits.shape[1], (len(logits),), generator=g)
    weights = (0.5 + torch.rand(len(logits), generator=g)).to(logits.dtype)
    return Case(name, (logits, labels, weights))


def _public() -> Iterator[Case]:
    g = torch.Generator().manual_seed(72)
    yield _case("ordinary logits", g, torch.randn(4, 3, generator=g))
    yield _case(
        "two logits a thousand from zero",
        g,
        torch.tensor([[1000.0, -1000.0], [-1000.0, 1000.0]]),
        torch.tensor([1, 1]),
    )


def _hidden(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    n, c = rng.randint(3, 7), rng.randint(4, 9)
    yield _case("fresh ordinary logits", g, 2 * torch.randn(n, c, generator=g))
    yield _case("fresh large logits", g, 10 ** rng.uniform(2.8, 3.8) * torch.randn(n, c, generator=g))
    base = torch.randn(n, c, generator=g)
    yield _case("a large common offset", g, base + rng.choice([-1, 1]) * rng.randint(300, 900))
    yield _case("float64, far apart", g, 5000 * torch.randn(n, c, generator=g, dtype=torch.float64))
    yield _case("equal logits", g, torch.full((n, c), rng.uniform(-200, 200)))
    sure = torch.randn(n, c, generator=g)
    labels = torch.randint(0, c, (n,), generator=g)
    sure[torch.arange(n), labels] += rng.randint(200, 400)
    yield _case("confident and right", g, sure, labels)
    yield _case("confident and wrong", g, sure, (labels + rng.randint(1, c - 1)) % c)
    ruled = 3 * torch.randn(n, c, generator=g)
    ruled[torch.arange(n), (labels + 1) % c] = -math.inf
    yield _case("one class ruled out by a logit of -inf", g, ruled, labels)


EXERCISES = (
    Exercise(
        id="7.2",
        title="A log-probability that survives",
        answer="label_log_prob",
        points=2,
        minutes=4,
        level="stretch",
        claims=("7.2",),
        hints=(
            "Print softmax(logits) for the failing row: which entry is exactly zero, and is it zero in "
            "exact arithmetic?",
            "Write the logarithm of a quotient of exponentials as a difference before you compute anything."
            " Which exponentials are left?",
            "Check the gradient too: call .sum().backward() on your result and compare a row with one-hot "
            "minus softmax.",
        ),
        public=_public,
        hidden=_hidden,
        judge=judge,
        kind="probe",
        probe="weighted_gradient",
    ),
)
