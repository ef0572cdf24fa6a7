"""Small training tasks in good order: data with stable ids, a model, and how one update is made.

Everything here draws from torch's global generator, which `faults.build` seeds and gives back.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Callable

import torch
from torch import nn
from torch.nn import functional as F

HELD_OUT = 64
CLASSES = 3


class Net(nn.Module):
    """ReLU layers (`body`) and a linear `head`. `hold` is what the body is kept in."""

    def __init__(self, widths: list[int], outputs: int, hold: type = nn.ModuleList) -> None:
        super().__init__()
        self.body = hold([nn.Linear(a, b) for a, b in zip(widths, widths[1:])])
        self.head = nn.Linear(widths[-1], outputs)

    def features(self, inputs: torch.Tensor) -> torch.Tensor:
        for layer in self.body:
            inputs = torch.relu(layer(inputs))
        return inputs

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(inputs))

    def tensors(self) -> dict[str, nn.Parameter]:
        """Every tensor of the forward pass by name, whether the module knows of it or not."""
        layers = {f"body.{k}": layer for k, layer in enumerate(self.body)} | {"head": self.head}
        return {f"{at}.{name}": p for at, layer in layers.items() for name, p in layer.named_parameters()}


class Descent:
    """Plain gradient descent over groups of tensors: p <- p - lr * p.grad."""

    def __init__(self, *groups: list[nn.Parameter]) -> None:
        self.groups = [list(group) for group in groups]

    def zero_grad(self) -> None:
        clear(p for group in self.groups for p in group)

    @torch.no_grad()
    def step(self, lr: float) -> None:
        for group in self.groups:
            for p in group:
                if p.grad is not None:
                    p.sub_(p.grad, alpha=lr)


def clear(tensors) -> None:
    """Drop the gradients of these tensors."""
    for p in tensors:
        p.grad = None


@dataclass
class Parts:
    """All that a run consists of; a fault is planted by changing some of it.

    ids [N] int64, inputs [N, F] float32, targets [N] (float32 or int64): as supplied, by row.
    batches: rows of each batch. truth: the catalog's target, by row. held_out: (inputs, targets).
    clear: how the run clears gradients before it computes new ones.
    micro: batches whose gradients one update averages.
    """

    ids: torch.Tensor
    inputs: torch.Tensor
    targets: torch.Tensor
    batches: list[torch.Tensor]
    truth: torch.Tensor
    held_out: tuple[torch.Tensor, torch.Tensor]
    model: Net
    criterion: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    task: str
    lr: float
    optimizer: Descent = field(default_factory=Descent)
    clear: Callable[[], None] = lambda: None
    micro: int = 1


def line_loss(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean squared error of [B, 1] outputs against [B] targets."""
    return F.mse_loss(outputs.squeeze(1), targets)


def square_loss(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean squared error of [B, C] outputs against one-hot classes: quadratic in a linear model."""
    return F.mse_loss(outputs, F.one_hot(targets, CLASSES).to(outputs.dtype))


LOSSES = {"line": line_loss, "squares": square_loss, "classes": F.cross_entropy}


def make(
    draw: random.Random,
    task: str,
    body: str,
    size: int = 0,
    shares: tuple = (),
    noise: float = 0.2,
    stretch: Callable[[random.Random, torch.Tensor], torch.Tensor] = lambda draw, inputs: inputs,
) -> Parts:
    """A healthy run. task: a key of LOSSES; body: "none", "frozen" or "trained".

    size: examples a batch; shares: how common each class is; noise: standard deviation of the
    targets' noise; stretch: changes the inputs after the targets were made from them.
    """
    # sizes and shares vary in every run, so that none of them gives a fault away
    size = size or draw.choice([5, 8, 12, 16])
    shares = shares or draw.choice([(1, 1, 1), (1, 1, 1), (1, 5, 1)])
    count, width = size * (draw.randint(64, 96) // size), draw.randint(4, 6)
    inputs, targets = _examples(task, count + HELD_OUT, width, shares, noise)
    inputs = stretch(draw, inputs)
    ids = torch.tensor(draw.sample(range(10_000, 100_000), count))
    depth = {"none": 0, "frozen": 1, "trained": draw.choice([1, 1, 2])}[body]
    model = Net([width] + [draw.choice([10, 12, 14])] * depth, 1 if task == "line" else CLASSES)
    for layer in model.body:
        layer.requires_grad_(body == "trained")
    if task == "squares":
        with torch.no_grad():
            model.head.weight.mul_(0.3)  # outputs near the targets' 0 and 1 from the start
    parts = Parts(
        ids=ids,
        inputs=inputs[:count],
        targets=targets[:count],
        batches=list(torch.randperm(count).split(size)),
        truth=targets[:count].clone(),
        held_out=(inputs[count:], targets[count:]),
        model=model,
        criterion=LOSSES[task],
        task=task,
        lr=0.0,
    )
    parts.lr = _good_rate(parts, draw, body)
    parts.optimizer = Descent(model.parameters())
    parts.clear = lambda: clear(parts.model.tensors().values())
    return parts


def _examples(task: str, count: int, width: int, shares: tuple, noise: float) -> tuple:
    """Inputs [count, width] and targets [count]: a noisy plane, or clouds around class centers."""
    inputs = torch.randn(count, width)
    if task == "line":
        slope = torch.randn(width)
        slope *= 1.5 / slope.norm()
        return inputs, inputs @ slope + 0.5 + noise * torch.randn(count)
    # at least a few of each class, so that the rarest can be met
    targets = torch.multinomial(torch.tensor(shares, dtype=torch.float32), count, replacement=True)
    centers = torch.linalg.qr(torch.randn(width, width))[0][:CLASSES] * (2.2 - noise)
    return inputs + centers[targets], targets


def _good_rate(parts: Parts, draw: random.Random, body: str) -> float:
    """A rate at which the run learns well: bounded by curvature where the loss is quadratic."""
    if body == "trained":
        return draw.uniform(0.05, 0.08) if parts.task == "line" else draw.uniform(0.25, 0.4)
    return draw.uniform(0.35, 0.6) / steepest(parts)


def design(parts: Parts, batch: int) -> torch.Tensor:
    """Features of a batch with a column of ones [B, D]: what the head is linear in."""
    with torch.no_grad():
        features = parts.model.features(parts.inputs[parts.batches[batch]])
    return torch.cat([features, torch.ones(len(features), 1)], dim=1)


def curvature(parts: Parts, batch: int) -> torch.Tensor:
    """Second derivative [D, D] of a batch's squared error in one output of the head."""
    columns = design(parts, batch)
    outputs = parts.model.head.out_features
    return 2 / (len(columns) * outputs) * columns.T @ columns


def steepest(parts: Parts) -> float:
    """The largest curvature over all batches; descent on each converges at rates below 2 over it."""
    return max(torch.linalg.eigvalsh(curvature(parts, b))[-1].item() for b in range(len(parts.batches)))
