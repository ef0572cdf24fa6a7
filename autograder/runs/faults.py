"""What can be wrong with a run, and what only looks wrong: one function for each mechanism.

A mechanism takes a random.Random and returns the run's Parts. `KINDS` names them all by
the fault that they show.
"""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn

from .tasks import CLASSES, Descent, Net, Parts, clear, curvature, design, make, steepest

FAULTS = ("healthy", "nan input", "wrong parameter", "learning rate", "zero_grad", "wrong labels")
QUADRATIC = [("line", "none"), ("squares", "none"), ("line", "frozen"), ("squares", "frozen")]
LAYERED = [("classes", "trained"), ("line", "trained")]
ANY = QUADRATIC + LAYERED + [("classes", "frozen"), ("classes", "trained")]
SPREAD = [("line", "none"), ("line", "frozen"), ("classes", "trained"), ("line", "trained")]
CLASSED = [("classes", "trained"), ("classes", "frozen"), ("squares", "none")]


@dataclass(frozen=True)
class Recipe:
    """From which a run is built, the same every time. kind: a key of KINDS."""

    kind: str
    seed: int

    @property
    def fault(self) -> str:
        """One of FAULTS: what a diagnosis should say."""
        return KINDS[self.kind][0]


def build(recipe: Recipe) -> Parts:
    """The run of a recipe at its start; torch's generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(recipe.seed)  # torch.manual_seed also keeps notes for CUDA
        return KINDS[recipe.kind][1](random.Random(recipe.seed))


# --- nan input -------------------------------------------------------------------------


def _row(parts: Parts, draw: random.Random, first: int) -> int:
    """A random row of a random batch, not before batch `first`."""
    return draw.choice(draw.choice(parts.batches[first:]).tolist())


def nan_in_first_batch(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    parts.inputs[draw.choice(parts.batches[0].tolist()), draw.randrange(4)] = torch.nan
    return parts


def nan_in_later_batch(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    parts.inputs[_row(parts, draw, first=3), draw.randrange(4)] = torch.nan
    return parts


def constant_column_normalized(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    rows, column = draw.choice(parts.batches[1:]), draw.randrange(4)
    values = torch.ones(len(rows))
    parts.inputs[rows, column] = (values - values.mean()) / values.std(unbiased=False)  # 0 / 0
    return parts


def padding_left_in(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    for _ in range(draw.randint(2, 3)):
        parts.inputs[_row(parts, draw, first=1), -draw.randint(1, 3) :] = torch.nan
    return parts


def logarithm_of_zero(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    infinite = draw.choice([-1, 1]) * torch.zeros(()).log()
    parts.inputs[_row(parts, draw, first=draw.randrange(3)), draw.randrange(4)] = infinite
    return parts


# --- wrong parameter -------------------------------------------------------------------


def head_replaced_after_optimizer(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(LAYERED))
    head = parts.model.head
    parts.model.head = nn.Linear(head.in_features, head.out_features)
    return parts


def optimizer_of_another_instance(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    parts.optimizer = Descent(copy.deepcopy(parts.model).parameters())
    return parts


def layers_in_python_list(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(LAYERED))
    body, head = parts.model.body, parts.model.head
    widths = [body[0].in_features] + [layer.out_features for layer in body]
    parts.model = Net(widths, head.out_features, hold=list)
    parts.optimizer = Descent(parts.model.parameters())
    return parts


def group_never_appended(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    tensors = parts.model.tensors()
    biases = [p for name, p in tensors.items() if name.endswith("bias")]
    weights = [p for name, p in tensors.items() if name.endswith("weight")]
    parts.optimizer = Descent(weights if draw.random() < 0.5 else biases)
    return parts


# --- learning rate ---------------------------------------------------------------------


def _rate_over_limit(parts: Parts, draw: random.Random) -> Parts:
    """Rate times the largest curvature of batch 0 between 2.45 and 3."""
    parts.lr = draw.uniform(2.45, 3.0) / torch.linalg.eigvalsh(curvature(parts, 0))[-1].item()
    return parts


def rate_too_large(draw: random.Random) -> Parts:
    return _rate_over_limit(make(draw, *draw.choice(QUADRATIC)), draw)


def one_steep_direction(draw: random.Random) -> Parts:
    """The start is nearly right along the steepest direction, so the loss falls before it grows."""
    task, size = draw.choice(["line", "squares"]), draw.choice([12, 16])
    parts = make(draw, task, "none", size=size, stretch=_one_direction)
    _rate_over_limit(parts, draw)
    values, vectors = torch.linalg.eigh(curvature(parts, 0))
    targets = parts.targets[parts.batches[0]]
    wanted = targets[:, None] if parts.task == "line" else torch.eye(CLASSES)[targets]
    best = torch.linalg.lstsq(design(parts, 0), wanted).solution  # [features + 1, outputs]
    away = torch.randn(best.shape) / values.sqrt()[:, None]
    away[-1] = 0.03 * away[-1].sign() / values[-1].sqrt()
    start = best + vectors @ away
    with torch.no_grad():
        parts.model.head.weight.copy_(start[:-1].T)
        parts.model.head.bias.copy_(start[-1])
    return parts


def _one_direction(draw: random.Random, inputs: torch.Tensor) -> torch.Tensor:
    """Inputs stretched along a random direction, of no single feature."""
    steep = torch.nn.functional.normalize(torch.randn(inputs.shape[1]), dim=0)
    return inputs + draw.uniform(2, 3) * (inputs @ steep)[:, None] * steep


def _one_feature(draw: random.Random, inputs: torch.Tensor) -> torch.Tensor:
    """Inputs with one feature in other units."""
    factors = torch.ones(inputs.shape[1])
    factors[draw.randrange(4)] = draw.uniform(4, 7)
    return inputs * factors


def feature_in_other_units(draw: random.Random) -> Parts:
    return _rate_over_limit(make(draw, draw.choice(["line", "squares"]), "none", stretch=_one_feature), draw)


# --- zero_grad -------------------------------------------------------------------------


def _gentle(parts: Parts) -> Parts:
    """A rate at which summed gradients swing but do not run away."""
    parts.lr *= 0.25
    return parts


def never_cleared(draw: random.Random) -> Parts:
    parts = _gentle(make(draw, *draw.choice(ANY)))
    parts.clear = lambda: None
    return parts


def another_instance_cleared(draw: random.Random) -> Parts:
    parts = _gentle(make(draw, *draw.choice(ANY)))
    twin = copy.deepcopy(parts.model)
    parts.clear = lambda: clear(twin.parameters())
    return parts


def one_group_cleared(draw: random.Random) -> Parts:
    parts = _gentle(make(draw, *draw.choice(ANY)))
    biases = [p for name, p in parts.model.tensors().items() if name.endswith("bias")]
    parts.clear = lambda: clear(biases)
    return parts


# --- wrong labels ----------------------------------------------------------------------


def shuffled_apart(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    parts.targets = parts.targets[torch.randperm(len(parts.targets))]
    return parts


def off_by_one_row(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    parts.targets = parts.targets.roll(draw.choice([-1, 1]))
    return parts


def two_classes_exchanged(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(CLASSED))
    common = int(parts.targets.bincount(minlength=CLASSES).argmax())
    other = (common + draw.choice([1, 2])) % CLASSES
    names = torch.arange(CLASSES)
    names[common], names[other] = other, common
    parts.targets = names[parts.targets]
    return parts


def one_shard_corrupted(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    length = len(parts.ids) // draw.randint(3, 4)
    start = draw.randrange(len(parts.ids) - length)
    shard = slice(start, start + length)
    if parts.task == "line":
        parts.targets[shard] = -parts.targets[shard]
    else:
        parts.targets[shard] = (parts.targets[shard] + 1) % CLASSES
    return parts


# --- healthy, whatever it looks like -----------------------------------------------------


def slow(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(SPREAD))
    parts.lr *= 0.12
    return parts


def tiny_noisy_batches(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(CLASSED + [("line", "none")]), size=5, noise=0.6)
    parts.lr *= 0.6
    return parts


def plateau_at_start(draw: random.Random) -> Parts:
    """A head of zeros: at the first update nothing below it has a gradient, so nothing there moves."""
    parts = make(draw, "classes", "trained")
    with torch.no_grad():
        parts.model.head.weight.zero_()
        parts.model.head.bias.zero_()
    return parts


def swinging(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(QUADRATIC[:2]))
    parts.lr = draw.uniform(1.6, 1.85) / steepest(parts)
    return parts


def frozen_body(draw: random.Random) -> Parts:
    return make(draw, draw.choice(["line", "squares", "classes"]), "frozen")


def gradients_gathered(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(ANY))
    parts.micro = draw.randint(2, 3)
    return parts


def high_at_start(draw: random.Random) -> Parts:
    parts = make(draw, *draw.choice(SPREAD))
    with torch.no_grad():
        parts.model.head.weight.mul_(8)
    return parts


def rare_classes(draw: random.Random) -> Parts:
    return make(draw, *draw.choice(CLASSED), shares=(1, 5, 1))


def odd_units_at_good_rate(draw: random.Random) -> Parts:
    stretch = draw.choice([_one_feature, _one_direction])
    parts = make(draw, draw.choice(["line", "squares"]), "none", stretch=stretch)
    parts.lr = draw.uniform(1.2, 1.6) / steepest(parts)
    return parts


_BY_FAULT = {
    "nan input": (
        nan_in_first_batch,
        nan_in_later_batch,
        constant_column_normalized,
        padding_left_in,
        logarithm_of_zero,
    ),
    "wrong parameter": (
        head_replaced_after_optimizer,
        optimizer_of_another_instance,
        layers_in_python_list,
        group_never_appended,
    ),
    "learning rate": (rate_too_large, one_steep_direction, feature_in_other_units),
    "zero_grad": (never_cleared, another_instance_cleared, one_group_cleared),
    "wrong labels": (shuffled_apart, off_by_one_row, two_classes_exchanged, one_shard_corrupted),
    "healthy": (
        slow,
        tiny_noisy_batches,
        plateau_at_start,
        swinging,
        frozen_body,
        gradients_gathered,
        high_at_start,
        rare_classes,
        odd_units_at_good_rate,
    ),
}
KINDS: dict[str, tuple[str, Callable[[random.Random], Parts]]] = {
    make_it.__name__: (fault, make_it) for fault, makers in _BY_FAULT.items() for make_it in makers
}
