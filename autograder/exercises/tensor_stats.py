"""5.1: statistics of one tensor at one step, that hold for any tensor a run can produce."""

from __future__ import annotations

import math
import random
from typing import Any, Iterator

import torch
from torch import Tensor

from ..result import Case, Verdict
from ..wire import NumpyScalar
from .base import Exercise, describe, right, wrong

KEYS = ("mean", "std", "finite", "zero", "norm", "relative_update")


def _finite(t: Tensor) -> Tensor:
    flat = t.detach().to(torch.float64).reshape(-1)
    return flat[torch.isfinite(flat)]


def measure(tensor: Tensor, previous: Tensor | None) -> dict[str, float]:
    """The judge's own statistics, by plain sums in float64."""
    values, count = _finite(tensor).tolist(), tensor.numel()
    mean = math.fsum(values) / len(values) if values else math.nan
    variance = math.fsum((v - mean) ** 2 for v in values) / len(values) if values else math.nan
    return {
        "mean": mean,
        "std": math.sqrt(variance),
        "finite": len(values) / count if count else math.nan,
        "zero": values.count(0.0) / count if count else math.nan,
        "norm": math.sqrt(math.fsum(v * v for v in values)),
        "relative_update": _relative(tensor, previous),
    }


def _relative(tensor: Tensor, previous: Tensor | None) -> float:
    if previous is None:
        return math.nan
    change = tensor.detach().to(torch.float64) - previous.detach().to(torch.float64)
    moved, size = (math.sqrt(math.fsum(v * v for v in _finite(t).tolist())) for t in (change, previous))
    if size == 0:
        return math.inf if moved else 0.0
    return moved / size


def _agrees(key: str, value: float, truth: float, scale: float) -> bool:
    if math.isnan(truth) or math.isinf(truth):
        return math.isnan(value) if math.isnan(truth) else value == truth
    # a mean may cancel; a spread may be tiny beside its mean, so it gets next to no absolute slack
    slack = {"mean": 1e-6 * scale, "std": 1e-12 * scale}.get(key, 0.0)
    return abs(value - truth) <= 1e-5 * abs(truth) + slack


_LOOK = {
    "mean": "which entries does the docstring average, and in which precision?",
    "std": "divide by how many? And subtract the mean before you square: two big numbers cancel badly",
    "finite": "compare the count of finite entries with the count of all entries, by hand",
    "zero": "the fraction is of all entries, also when some are not finite",
    "norm": "can a square overflow, or a NaN slip into the sum, in this dtype?",
    "relative_update": "subtract in which precision? And what does the docstring say of a size of zero?",
}


def judge(case: Case, answer: Any) -> Verdict:
    """Types first, then each statistic apart; a case passes when all six agree."""
    expected = "a dict of six Python floats: " + ", ".join(KEYS)
    if type(answer) is not dict:
        return wrong(describe(answer), expected, "return the dict that the docstring shows")
    if set(answer) != set(KEYS):
        return wrong(
            f"keys {sorted(map(str, answer))}", expected, "use the docstring's names, all six of them"
        )
    for key in KEYS:
        if type(answer[key]) is not float:
            kind = "a numpy scalar" if isinstance(answer[key], NumpyScalar) else describe(answer[key])
            return wrong(
                f"{key} is {kind}", expected, f"make it a Python float: .item() or float(), for {key}"
            )
    tensor, previous = case.args
    truth = measure(tensor, previous)
    values = _finite(tensor)
    scale = float(values.abs().max()) if values.numel() else 0.0
    parts = {key: _agrees(key, answer[key], truth[key], scale) for key in KEYS}
    seen = ", ".join(f"{key} {answer[key]:.6g}" for key in KEYS)
    bad = [key for key in KEYS if not parts[key]]
    if not bad:
        return right(f"{describe(tensor)}: {seen}", parts=parts)
    return wrong(
        f"{describe(tensor)}: {seen}",
        f"the statistics that the docstring defines; {', '.join(bad)} differ from the judge's own "
        "float64 measurement",
        _LOOK[bad[0]],
        parts=parts,
    )


def _public() -> Iterator[Case]:
    yield Case(
        "four entries, a step taken",
        (torch.tensor([3.0, 0.0, -4.0, 1.0]), torch.tensor([3.0, 0.0, -4.0, 0.0])),
    )
    yield Case(
        "a NaN and an infinity among the entries",
        (torch.tensor([1.0, math.nan, math.inf, 0.0]), torch.ones(4)),
    )
    yield Case("a tensor without entries", (torch.empty(0, 3), None))
    yield Case("a bias that started at zero", (torch.tensor([0.5, -0.5]), torch.zeros(2)))


def _hidden(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    rows, cols = rng.randint(3, 9), rng.randint(4, 9)
    w = torch.randn(rows, cols, generator=g)
    step = 10 ** rng.uniform(-4, -2) * torch.randn(rows, cols, generator=g)
    yield Case("a weight after an ordinary step", (torch.nn.Parameter(w + step), w))
    sparse = torch.relu(torch.randn(rows, cols, generator=g))
    yield Case("activations, many of them zero", (sparse, None))
    broken = w.clone()
    broken.view(-1)[torch.randperm(w.numel(), generator=g)[:4]] = torch.tensor(
        [math.nan, math.inf, -math.inf, 0.0]
    )
    yield Case("a weight that has just gone partly non-finite", (broken, w))
    yield Case("nothing finite left", (torch.full((rows,), math.nan), torch.ones(rows)))
    yield Case("no entries, with a previous state", (torch.empty(cols, 0), torch.empty(cols, 0)))
    counts = torch.randint(0, 256, (rows, cols), generator=g, dtype=torch.uint8)
    yield Case("uint8 pixels", (counts, torch.randint(0, 256, (rows, cols), generator=g, dtype=torch.uint8)))
    half = (2e4 * torch.randn(30, 30, generator=g)).clamp(-6e4, 6e4).half()
    yield Case("half precision, large entries", (half, -half))
    tiny = (1e-4 * torch.randn(rows, cols, generator=g)).to(torch.bfloat16)
    yield Case("bfloat16, small entries", (tiny, tiny + tiny.abs().max()))
    yield Case("entries near the top of float32", (1e30 * w, 1e30 * (w + step)))
    level = 1e6 + 1e-2 * torch.randn(2, rows * cols, dtype=torch.float64, generator=g)
    yield Case("a tiny spread around a large mean", (level[0], level[1]))
    yield Case("a transposed view", (w.t(), (w - step).t()))
    yield Case(
        "every second column of a larger tensor", (torch.randn(rows, 2 * cols, generator=g)[:, ::2], None)
    )
    yield Case("one entry, unmoved", (torch.tensor(rng.uniform(1, 9)),) * 2)
    yield Case("all zero and still zero", (torch.zeros(cols), torch.zeros(cols)))
    yield Case("a bias on its first step from zero", (step[0].clone(), torch.zeros(cols)))


EXERCISES = (
    Exercise(
        id="5.1",
        title="Statistics of one tensor",
        answer="tensor_stats",
        points=4,
        minutes=8,
        level="stretch",
        claims=("5.1",),
        hints=(
            "Print tensor.dtype, tensor.numel() and tensor.is_contiguous() for the case that fails: which "
            "of your operations does not accept that tensor, or rounds in that dtype?",
            "Two selections are at work: fractions count over all entries, the other statistics over the "
            "finite ones. Print the length of both before you divide.",
            "Walk through the two divisions by hand for a tensor without entries, for a single entry, and "
            "for a previous tensor that is all zero; compare each with the docstring.",
        ),
        public=_public,
        hidden=_hidden,
        judge=judge,
    ),
)
