"""Small networks for 3.3, each healthy or with one broken link; built from torch.nn classes alone.

A builder takes a generator and a variant, and returns the arguments of `audit_chain`. Healthy and
broken variants share a name, so that a name says nothing. The truth is measured, never declared.
"""

from __future__ import annotations

import copy
import random
from typing import Callable

import torch
from torch import nn

CLASSES = 4


def _fill(model: nn.Module, g: torch.Generator, scale: float = 0.5) -> nn.Module:
    """Weights from the case's own generator; the global one is left alone."""
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(0, scale, generator=g)
    return model


def _mlp(g: torch.Generator, act: type[nn.Module] = nn.Tanh) -> nn.Sequential:
    return _fill(nn.Sequential(nn.Linear(5, 8), act(), nn.Linear(8, 6), act(), nn.Linear(6, CLASSES)), g)


def _names(model: nn.Module) -> dict[str, torch.Tensor]:
    """Every parameter by name; a shared one under each of its names."""
    return dict(model.named_parameters(remove_duplicate=False))


def _args(g: torch.Generator, model: nn.Module, optimizer: torch.optim.Optimizer, *, x=None, y=None,
          tensors=None, resting=(), ids=None) -> tuple:  # fmt: skip
    """Arguments in the order of `audit_chain`; a well paired random batch unless others are given."""
    rows = 9 if x is None else len(x)
    x = torch.randn(rows, 5, generator=g) if x is None else x
    y = torch.randint(CLASSES, (rows,), generator=g) if y is None else y
    x_ids, y_ids = ids or (torch.randperm(1000, generator=g)[:rows],) * 2
    tensors = _names(model) if tensors is None else tensors
    return (model, optimizer, x, y, x_ids.clone(), y_ids.clone(), tensors, set(resting))


def _prefixed(tensors: dict, *prefixes: str) -> set[str]:
    return {name for name in tensors if name.startswith(prefixes)}


def new_head(g, variant):
    model = _mlp(g)
    early = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model[4] = _fill(nn.Linear(6, CLASSES), g)
    late = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return _args(g, model, early if variant == "early" else late)


def handmade_weight(g, variant):
    model = _mlp(g)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    made = torch.randn(6, 8, generator=g)
    if variant == "parameter":
        model[2].weight = nn.Parameter(made)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        return _args(g, model, optimizer)
    made.requires_grad_()
    del model[2].weight
    if variant == "buffer":
        model[2].register_buffer("weight", made)
    else:
        model[2].weight = made
    held = [*model.parameters(), made] if variant == "stepped" else model.parameters()
    return _args(g, model, torch.optim.AdamW(held, lr=0.01), tensors={**_names(model), "2.weight": made})


def frozen_trunk(g, variant):
    model = _fill(
        nn.Sequential(nn.Linear(5, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, CLASSES)), g
    )
    trunk = _prefixed(_names(model), "0.", "1.")
    for name, p in model.named_parameters():
        p.requires_grad = name not in trunk or variant in ("left out", "forgotten")
    held = model[3].parameters() if variant == "left out" else model.parameters()
    optimizer = torch.optim.SGD(held, lr=0.1, weight_decay=0.01)
    return _args(g, model, optimizer, resting=() if variant == "not planned" else trunk)


def spare_branch(g, variant):
    """The spare layer is registered and held by the optimizer, and no forward pass reads it."""
    model = _mlp(g)
    model[1].add_module("spare", _fill(nn.Linear(8, 2), g))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
    spare = _prefixed(_names(model), "1.spare")
    return _args(g, model, optimizer, resting=spare if variant == "planned" else ())


def shared_weight(g, variant):
    model = nn.Sequential(nn.Embedding(12, 6), nn.Flatten(), nn.Linear(12, 6), nn.Tanh(), nn.Linear(6, 12))
    model[4].weight = model[0].weight
    _fill(model, g)
    source = copy.deepcopy(model) if variant == "copied" else model
    matrices = [p for p in source.parameters() if p.dim() == 2]
    vectors = [p for p in source.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices}, {"params": vectors, "weight_decay": 0.0}], lr=0.01)
    x, y = torch.randint(6, (7, 2), generator=g), torch.randint(12, (7,), generator=g)
    return _args(g, model, optimizer, x=x, y=y)


def several_groups(g, variant):
    model = _mlp(g)
    rates = [0.1, 0.0 if variant == "zero rate" else 0.05, 0.01]
    groups = [{"params": model[i].parameters(), "lr": lr} for i, lr in zip((0, 2, 4), rates)]
    optimizer = torch.optim.SGD(groups[:2] if variant == "two of three" else groups, lr=0.1)
    return _args(g, model, optimizer)


def other_units(g, variant):
    """Inputs measured in another unit, so that every gradient is tiny; the zero start can still move."""
    model = nn.Sequential(nn.Linear(5, CLASSES))
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(0.5 if variant == "underflow" else 0.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = 1e-12 * (1 + torch.rand(8, 5, generator=g))
    if variant == "underflow":  # an ordinary gradient, and an update below the spacing at 0.5
        model, x = model.bfloat16(), (1e12 * x).bfloat16()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    return _args(g, model, optimizer, x=x, y=torch.arange(8) % 3)


def relu_layer(g, variant):
    model = _mlp(g, nn.ReLU)
    if variant != "alive":
        nn.init.constant_(model[2].bias, -300.0)
    decay = 0.1 if variant == "dead, decays" else 0.0
    return _args(g, model, torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=decay))


def resumed(g, variant):
    """Adam with a past: the second layer dies before this step, and its averages remember."""
    model = _mlp(g, nn.ReLU)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(2):
        loss = model(torch.randn(9, 5, generator=g)).logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    rest = _prefixed(_names(model), "0.", "2.") if variant == "rest" else ()
    if variant != "alive":
        nn.init.constant_(model[2].bias, -300.0)
    optimizer.zero_grad()
    return _args(g, model, optimizer, resting=rest)


def large_numbers(g, variant):
    """One path of huge weights that carries 0 forward; backward it carries their product."""
    model = _fill(nn.Sequential(nn.Linear(5, 6), nn.Linear(6, 6), nn.Linear(6, CLASSES)), g)
    x = torch.randn(9, 5, generator=g)
    huge = 1e30 if variant == "overflow" else 1e6
    with torch.no_grad():
        model[0].weight[2], model[0].bias[2] = 0, 0
        model[1].weight[4], model[1].bias[4] = 0, 0
        model[1].weight[4, 2] = huge
        model[2].weight[1, 4] = huge
    if variant == "missing":
        x[3, 1] = torch.nan
    return _args(g, model, torch.optim.SGD(model.parameters(), lr=0.01), x=x)


def one_epoch(g, variant):
    """Ids as large as a database makes them: a relative tolerance calls neighbors equal."""
    model = _mlp(g)
    ids = 10_000_000 + torch.randperm(9, generator=g)
    other = ids.clone()
    if variant == "permuted":
        other = ids.roll(1)
    if variant == "one row off":
        other[8] += 1
    if variant == "repeats":
        ids = other = ids[torch.randint(9, (9,), generator=g)]
    return _args(g, model, torch.optim.SGD(model.parameters(), lr=0.1), ids=(ids, other))


def no_training(g, variant):
    """Nothing asks for a gradient, so backward has nothing to walk."""
    model = _mlp(g).requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return _args(g, model, optimizer, resting=_names(model) if variant == "planned" else ())


def at_once(g, variant):
    """Several links of several tensors, and the pairing too."""
    args = list(handmade_weight(g, "plain"))
    model, held = args[0], [*args[0][0].parameters(), args[0][2].bias]
    model[2].bias.requires_grad_(False)
    args[1] = torch.optim.SGD(held, lr=0.1)
    args[5] = args[5].flip(0)
    return tuple(args)


FAMILIES: dict[str, tuple[Callable, tuple[str, ...]]] = {
    "a network with a new head": (new_head, ("late", "early")),
    "a layer with a weight made by hand": (handmade_weight, ("parameter", "plain", "buffer", "stepped")),
    "a pretrained trunk under a head": (
        frozen_trunk, ("planned", "left out", "forgotten", "not planned"),
    ),
    "a network with a spare branch": (spare_branch, ("planned", "expected")),
    "a weight with two names": (shared_weight, ("healthy", "copied")),
    "an optimizer with groups": (several_groups, ("healthy", "zero rate", "two of three")),
    "inputs in another unit or dtype": (other_units, ("tiny", "underflow")),
    "a network with ReLUs": (relu_layer, ("alive", "dead", "dead, decays")),
    "a run resumed with its Adam state": (resumed, ("alive", "dead", "rest")),
    "a path of large weights": (large_numbers, ("healthy", "overflow", "missing")),
    "a batch from a shuffled epoch": (one_epoch, ("healthy", "repeats", "permuted", "one row off")),
    "a network loaded for evaluation": (no_training, ("planned", "unplanned")),
    "a network with several changes": (at_once, ("faulty",)),
}  # fmt: skip


def build(name: str, variant: str, rng: random.Random) -> tuple:
    """Arguments of one case, drawn from `rng`."""
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    with torch.random.fork_rng(devices=[]):  # constructors draw from the global generator
        return FAMILIES[name][0](g, variant)
