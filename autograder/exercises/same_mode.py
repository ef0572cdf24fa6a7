"""Exercise 4.2: two losses measured in one mode, on one set of terms, leaving no trace."""

from __future__ import annotations

import copy
import random
from typing import Any, Iterator

import torch
import torch.nn.functional as F
from torch import nn

from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong

KEYS = ("train", "val", "penalty")


def public() -> Iterator[Case]:
    g = torch.Generator().manual_seed(42)
    yield _case("dropout, found in training mode", g, drop=0.5)
    yield _case("batch norm, and a last batch of one row", g, norm=True, sizes=((6, 5, 1), (4, 1)))


def hidden(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    yield _case("dropout and batch norm", g, drop=0.4, norm=True, sizes=((7, 7, 3), (5, 2)))
    yield _case("a model found in eval mode", g, drop=0.3, norm=True, mode="eval")
    yield _case("a model with its batch norm frozen in eval mode", g, drop=0.5, norm=True, mode="mixed")
    yield _case("neither dropout nor batch norm", g, sizes=((9, 2), (1, 8)))
    yield _case("a weight decay of zero", g, drop=0.6, decay=0.0)
    yield _case("a frozen first layer", g, drop=0.2, frozen=True, sizes=((4, 4, 1), (2,)))
    yield _case("a strong weight decay", g, drop=0.5, norm=True, decay=0.3)


def _case(
    name: str,
    g: torch.Generator,
    drop: float = 0.0,
    norm: bool = False,
    mode: str = "train",
    decay: float = 0.05,
    frozen: bool = False,
    sizes: tuple = ((6, 6, 2), (5, 3)),
) -> Case:
    """A small classifier, batches of unequal sizes, and a penalty factor."""
    model = _model(g, drop, norm)
    if mode != "train":
        model.eval()
    if mode == "mixed":
        model.train()
        model[1].eval()  # fine-tuning often leaves batch norm's statistics alone
    model[0].requires_grad_(not frozen)
    train, val = (_batches(g, each) for each in sizes)
    return Case(name, (model, train, val, decay))


def _model(g: torch.Generator, drop: float, norm: bool) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Linear(6, 16)]
    if norm:
        layers.append(nn.BatchNorm1d(16))
    layers.append(nn.ReLU())
    if drop:
        layers.append(nn.Dropout(drop))
    model = nn.Sequential(*layers, nn.Linear(16, 3))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=g) * 0.6)
        if norm:
            model[1].running_mean.copy_(torch.randn(16, generator=g))
            model[1].running_var.copy_(torch.rand(16, generator=g) + 0.5)
    return model


def _batches(g: torch.Generator, sizes: tuple) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Batches whose mean losses differ plainly: each batch has inputs of another scale."""
    return [
        (torch.randn(n, 6, generator=g) * (1 + i), torch.randint(0, 3, (n,), generator=g))
        for i, n in enumerate(sizes)
    ]


def _expected(case: Case) -> dict[str, float]:
    model, train, val, decay = case.args
    clean = copy.deepcopy(model).double().eval()
    with torch.no_grad():
        squares = sum((p**2).sum().item() for p in clean.parameters())
        losses = [
            F.cross_entropy(clean(torch.cat([x for x, _ in part]).double()), torch.cat([y for _, y in part]))
            for part in (train, val)
        ]
    return {"train": losses[0].item(), "val": losses[1].item(), "penalty": 0.5 * decay * squares}


def judge(case: Case, answer: Any) -> Verdict:
    """`answer` is what the probe saw: the value returned and the model afterwards."""
    value, model = answer["value"], case.args[0]
    if type(value) is not dict or set(value) != set(KEYS):
        seen = f"a dict with keys {sorted(map(str, value))}" if type(value) is dict else describe(value)
        return wrong(seen, "a dict with the keys 'train', 'val' and 'penalty'", "compare with the docstring")
    for key in KEYS:
        if type(value[key]) is not float:
            return wrong(f"{key}: {describe(value[key])}", "a Python float", "a 0-d tensor's number: .item()")
    seen = ", ".join(f"{key} {value[key]:.6g}" for key in KEYS)
    expected = _expected(case)
    for key, look in _LOOK.items():
        if not abs(value[key] - expected[key]) <= 1e-6 + 1e-4 * abs(expected[key]):
            return wrong(f"{seen}; {key} is off", _WANTED[key], look)
    return _untouched(answer, model, seen)


def _untouched(answer: dict, model: nn.Module, seen: str) -> Verdict:
    """The numbers are right; was the model left as it was found?"""
    modes = [m.training for m in model.modules()]
    if answer["modes"] != modes:
        changed = sum(a != b for a, b in zip(answer["modes"], modes))
        return wrong(
            f"{seen}; {changed} of {len(modes)} modules left in another mode",
            "every module in the mode in which you found it, whichever that was",
            "print [m.training for m in model.modules()] before and after your call",
        )
    moved = [k for k, v in model.state_dict().items() if not torch.equal(answer["state"][k], v)]
    if moved:
        return wrong(
            f"{seen}; changed: {', '.join(moved)}",
            "parameters and buffers as they were",
            "which modules write to their buffers during a forward pass, and in which mode?",
        )
    if answer["graph"] or answer["grads"]:
        return wrong(
            f"{seen}; the forward pass built a graph",
            "a measurement without gradients",
            "does the mode of a module say anything about recording gradients?",
        )
    return right(seen)


_WANTED = {
    "train": "the mean cross entropy of all training rows, nothing switched on and nothing added",
    "val": "the mean cross entropy of all validation rows, measured as the training rows are",
    "penalty": "half of weight_decay times the sum of all squared parameters",
}
_LOOK = {
    "train": "call your function twice on one model: do the numbers repeat? then count the rows of each batch",
    "val": "is each row weighted alike, whatever the size of its batch?",
    "penalty": "take a model with one weight of 2 and a decay of 1: the penalty is 2",
}

EXERCISES = (
    Exercise(
        id="4.2",
        title="Same mode, same terms",
        answer="same_terms",
        points=3,
        minutes=6,
        level="stretch",
        claims=("4.2",),
        hints=(
            "Call your function twice on the same model and compare the numbers; if they differ, "
            "something random is still on.",
            "Compare one call on two batches with one call on the same rows as a single batch: the loss "
            "of a row must not depend on who shares its batch.",
            "List m.training for every module before and after the call, for a model of which one module "
            "was in eval mode and the others were not; and see whether the output requires grad.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
        kind="probe",
        probe="measured_model",
    ),
)
