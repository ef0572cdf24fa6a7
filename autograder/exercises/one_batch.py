"""Exercise 1.1: overfit one batch with plain SGD and keep a record of every step."""

from __future__ import annotations

import copy
import math
import random
from typing import Any, Iterable

import torch
from torch import nn
from torch.nn import functional as F

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong

KEYS = ("loss", "predictions", "gradients", "changes")
_BY_MODE = (nn.Dropout, nn.BatchNorm1d)  # where a forgotten mode does harm later
# (relative, absolute): other orders of the same float operations stay inside, wrong values do not
TOLERANCE = {torch.float32: (2e-4, 1e-6), torch.float64: (1e-8, 1e-11)}


def true_record(model: nn.Module, x: torch.Tensor, y: torch.Tensor, lr: float, steps: int) -> list[dict]:
    """The record of a fit, made on a copy of the model."""
    model = copy.deepcopy(model).eval()
    model.zero_grad(set_to_none=True)
    record = []
    with torch.enable_grad():
        for _ in range(steps):
            logits = model(x)
            loss = F.cross_entropy(logits, y)
            named = dict(model.named_parameters())
            learning = {name: p for name, p in named.items() if p.requires_grad}
            slopes = torch.autograd.grad(loss, list(learning.values()), allow_unused=True)
            gradients = dict.fromkeys(named) | dict(zip(learning, slopes))
            before = {name: p.detach().clone() for name, p in named.items()}
            with torch.no_grad():
                for name, p in learning.items():
                    if gradients[name] is not None:
                        p.sub_(gradients[name], alpha=lr)
            record.append(
                {
                    "loss": loss.item(),
                    "predictions": logits.argmax(1),
                    "gradients": gradients,
                    "changes": {name: p.detach() - before[name] for name, p in named.items()},
                }
            )
    return record


def _mlp(sizes: list[int], *, dropout: float = 0.0, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    layers: list[nn.Module] = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        layers += [nn.Linear(fan_in, fan_out, dtype=dtype), nn.ReLU()]
        layers += [nn.Dropout(dropout)] if dropout else []
    return nn.Sequential(*layers[: -2 if dropout else -1])


def public() -> Iterable[Case]:
    g = torch.Generator().manual_seed(11)
    yield Case("two layers, six examples", _task(g, _drawn(g, _mlp([4, 8, 3])), 6, 4, 3, lr=0.5, steps=4))
    dropout = _drawn(g, _mlp([4, 16, 3], dropout=0.5))
    yield Case("a model with dropout, in training mode", _task(g, dropout, 6, 4, 3, lr=0.5, steps=3))
    yield Case(
        "a model whose first layer is frozen", _task(g, _freeze(_drawn(g, _mlp([4, 8, 3]))), 6, 4, 3, steps=3)
    )


def hidden(rng: random.Random) -> Iterable[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))

    def task(model: nn.Module, size: int, features: int, classes: int, **more: Any) -> tuple:
        more.setdefault("lr", round(rng.uniform(0.2, 0.6), 2))
        return _task(g, _drawn(g, model), size, features, classes, **more)

    yield Case("three layers", task(_mlp([5, 12, 8, 4]), rng.randint(5, 9), 5, 4))
    yield Case("dropout in two places", task(_mlp([4, 16, 16, 3], dropout=0.4), 6, 4, 3))
    yield Case("a model that arrives in evaluation mode", task(_mlp([4, 16, 3], dropout=0.5).eval(), 6, 4, 3))
    yield Case("a batch of one", task(_mlp([3, 6, 4]), 1, 3, 4))
    yield Case("a learning rate of zero", task(_mlp([4, 8, 3]), 6, 4, 3, lr=0.0))
    yield Case(
        "a model and inputs in float64",
        task(_mlp([4, 8, 3], dtype=torch.float64), 6, 4, 3, dtype=torch.float64),
    )

    model, x, y, lr, steps = task(_mlp([6, 8, 3]), 5, 6, 3)
    turned = (x.t().contiguous().t(), y.repeat_interleave(2)[::2])
    yield Case("inputs and labels that are not contiguous", (model, *turned, lr, steps))

    shared = nn.Linear(5, 5)
    tied = nn.Sequential(shared, nn.Tanh(), nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 4))
    tied[2].weight = shared.weight
    yield Case("two layers that share one weight", task(tied, 6, 5, 4))

    used, *rest = task(_mlp([4, 8, 3]), 6, 4, 3)
    yield Case("a model that was used before", (_leave_gradients(g, used), *rest))
    partly, *rest = task(_mlp([4, 8, 8, 3]), 6, 4, 3)
    yield Case("used before, then its first layer frozen", (_freeze(_leave_gradients(g, partly)), *rest))
    frozen, *rest = task(_mlp([4, 8, 8, 3]), 6, 4, 3)
    yield Case("a model whose middle layer is frozen", (_freeze(frozen, 2), *rest))

    spare = _mlp([4, 8, 3])
    spare.register_parameter("spare", nn.Parameter(torch.zeros(2)))
    yield Case("a parameter that the forward pass does not use", task(spare, 6, 4, 3))
    norm = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    yield Case("batch normalization", task(norm, 6, 4, 3))

    words = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(12, 3))
    model, _, y, lr, steps = task(words, 6, 3, 3)
    yield Case("token ids as inputs", (model, torch.randint(9, (6, 3), generator=g), y, lr, steps))

    for sizes, dtype, power, what in (
        ([4, 8, 3], torch.float32, 15, ""), ([4, 8, 3], torch.float64, 30, ", in float64"),
        ([4, 8, 8, 3], torch.float32, 15, ", in three layers"),
    ):  # fmt: skip
        model, x, y, lr, steps = task(_mlp(sizes, dtype=dtype), 6, 4, 3, lr=0.8, dtype=dtype)
        column = rng.randrange(4)
        with torch.no_grad():  # this column's steps are far below the spacing of its floats, so it can't move
            model[0].weight[:, column] = 2.0**power
            x[:, column] *= 2.0 ** (1 - power)
        yield Case(f"a few weights that are huge{what}", (model, x, y, lr, steps))


def _task(
    g: torch.Generator, model: nn.Module, size: int, features: int, classes: int,
    lr: float = 0.4, steps: int = 4, dtype: torch.dtype = torch.float32,
) -> tuple:  # fmt: skip
    x = torch.randn(size, features, generator=g, dtype=dtype)
    y = torch.randint(classes, (size,), generator=g)
    return model, x, y, lr, steps


def _drawn(g: torch.Generator, model: nn.Module) -> nn.Module:
    """The model with parameters drawn from g: constructing it used the global generator."""
    with torch.no_grad():
        for p in model.parameters():
            scale = max(p.shape[-1], 1) ** -0.5 if p.dim() > 1 else 0.3
            p.copy_(torch.randn(p.shape, generator=g, dtype=p.dtype) * scale)
    return model


def _freeze(model: nn.Module, layer: int = 0) -> nn.Module:
    model[layer].requires_grad_(False)
    return model


def _leave_gradients(g: torch.Generator, model: nn.Module) -> nn.Module:
    """Gradients of an earlier use. Pickle drops p.grad, yet sets what stands in p.__dict__ on arrival."""
    for p in model.parameters():
        p.__dict__["grad"] = torch.randn(p.shape, generator=g, dtype=p.dtype)
    return model


def judge(case: Case, answer: Any) -> Verdict:
    model, _, _, lr, steps = case.args
    record, expected = answer["value"], f"a list of {steps} dicts with the keys {', '.join(KEYS)}, as measured"
    if type(record) is not list or len(record) != steps:
        return wrong(describe(record), expected, "one record for each step, appended to a list")
    frozen = {name for name, p in model.named_parameters() if not p.requires_grad}
    for step, (got, true) in enumerate(zip(record, true_record(*case.args))):
        problem = _compare(got, true, frozen)
        if problem:
            observed, look = problem
            return wrong(f"step {step}: {observed}", expected, look)
    if any(isinstance(m, _BY_MODE) for m in model.modules()):
        expected += ", and a model in the mode in which it came"
        if answer["modes"] != [module.training for module in model.modules()]:
            return wrong(
                f"the records agree; model.training is {answer['modes'][0]} afterwards and was {model.training}",
                expected, "what did you set on the model for this diagnostic, and which line sets it back?",
            )  # fmt: skip
    return right(f"{steps} records; loss {record[0]['loss']:.4f} at step 0", expected)


def _compare(got: Any, true: dict, frozen: set[str]) -> tuple[str, str] | None:
    """The first difference between a student's record and ours: what was seen, and where to look."""
    if type(got) is not dict:
        return describe(got), f"a dict with the keys {', '.join(KEYS)}"
    if set(got) != set(KEYS):
        return f"keys {list(got)}", f"the keys are {', '.join(KEYS)}"
    rtol, atol = TOLERANCE[next(iter(true["changes"].values())).dtype]
    if type(got["loss"]) is not float:
        return f"loss is {describe(got['loss'])}", "a Python float: .item() gives one"
    if not math.isclose(got["loss"], true["loss"], rel_tol=rtol, abs_tol=atol):
        return f"loss is {got['loss']:.6g}", (
            "the mean over the batch, before this step's update, in evaluation mode; "
            "an earlier step that updated wrongly shows here too"
        )
    if not _like(got["predictions"], true["predictions"]):
        return (
            f"predictions are {describe(got['predictions'])}",
            "one class index an example: an argmax over the classes",
        )
    if not torch.equal(got["predictions"], true["predictions"]):
        return (
            f"predictions are {got['predictions'].tolist()}",
            "from the same forward pass as the loss, before the update",
        )
    for kind in ("gradients", "changes"):
        problem = _compare_named(kind, got[kind], true[kind], rtol, atol, frozen)
        if problem:
            return problem
    return None


def _compare_named(
    kind: str, got: Any, true: dict, rtol: float, atol: float, frozen: set[str]
) -> tuple[str, str] | None:
    if type(got) is not dict or set(got) != set(true):
        names = list(got) if type(got) is dict else describe(got)
        return f"{kind} has {names}", f"one entry for each of model.named_parameters(): {', '.join(true)}"
    for name, wanted in true.items():
        what, value = f"{kind}[{name!r}]", got[name]
        if wanted is None:
            if value is None:
                continue
            why = "is frozen" if name in frozen else "takes no part in the forward pass"
            return (
                f"{what} is {describe(value)}",
                f"{name} {why}, so this step's backward pass gave it no gradient",
            )
        if not _like(value, wanted):
            return (
                f"{what} is {describe(value)}",
                f"a tensor like the parameter itself, which is {describe(wanted)}",
            )
        if not torch.allclose(value, wanted, rtol=rtol, atol=atol):
            return f"{what} {_misfit(value, wanted)}", _LOOK[kind]
    return None


def _like(value: Any, wanted: torch.Tensor) -> bool:
    return (
        type(value) in (torch.Tensor, nn.Parameter)
        and value.shape == wanted.shape
        and value.dtype == wanted.dtype
    )


def _misfit(value: torch.Tensor, wanted: torch.Tensor) -> str:
    """A wrong tensor's size and its worst difference, in words."""
    if not torch.isfinite(value).all():
        return "is not finite"
    if not value.any():
        return "is zero everywhere"
    worst = (value - wanted).abs().max().item()
    return f"has norm {value.norm().item():.4g} and differs from our measurement by {worst:.2g}"


_LOOK = {
    "gradients": (
        "what else is in .grad when backward adds to it, and does a later step write into what you kept?"
    ),
    "changes": (
        "two measurements of the parameter itself, before and after the update; is the first one a copy?"
    ),
}

EXERCISES = (
    Exercise(
        id="1.1",
        title="Overfit one batch, with a record",
        answer="overfit_one_batch",
        points=5,
        minutes=10,
        level="core",
        claims=("1.1",),
        hints=(
            "Run two steps on a one-layer model and print the loss twice at each step, before and after the "
            "update. Which of the two goes with the gradients that you recorded?",
            "Compare data_ptr() of what you kept from before the update with data_ptr() of the "
            "parameter now; then "
            "compare gradients[name] of step 0 as it was at step 0 and as it is when the loop has ended.",
            "Before the first backward, print p.requires_grad and p.grad for every named parameter, and "
            "model.training. Which of them should this diagnostic leave alone, clear, or set and "
            "later restore?",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
        kind="probe",
        probe="measured_model",
    ),
)
