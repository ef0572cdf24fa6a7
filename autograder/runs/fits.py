"""One-batch fits that can be repeated with a variable changed, for "why is the loss not zero?".

The network has one hidden layer; its gradients are written out in numpy, because a student
asks for a dozen fits a case, and one of them takes a few milliseconds this way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from ..live import Live

STEPS = 200
NEAR_ZERO = 0.05  # a loss below it counts as "the batch has been fitted"
CROSS_ENTROPY = "cross entropy"
RANGES = {
    "lr": (1e-6, 1e3),
    "label_smoothing": (0.0, 0.9),
    "weight_decay": (0.0, 1.0),
    "max_norm": (0.1, 1e3),
}
WIDTHS = (1, 64)
CHOICES = {
    "activation": ("relu", "none"),
    "loss": (
        CROSS_ENTROPY,
        "cross entropy of softmax",
        "cross entropy of sigmoid",
        "cross entropy of log_softmax",
    ),
}


@dataclass(frozen=True)
class Recipe:
    """All that decides a fit: rows of x, labels y, classes, and the settings of the loop."""

    x: tuple[tuple[float, ...], ...]
    y: tuple[int, ...]
    classes: int
    seed: int = 0
    lr: float = 0.5
    width: int = 32
    activation: str = "relu"
    loss: str = CROSS_ENTROPY
    label_smoothing: float = 0.0
    weight_decay: float = 0.0
    max_norm: float = 1e3  # each layer is scaled back to at most this Frobenius norm


class OneBatchFit(Live):
    """A one-batch fit in the judge: shows its batch, and fits afresh with changed variables."""

    asks = ("batch", "settings", "loss")
    budget = 400

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    def batch(self) -> dict[str, torch.Tensor]:
        """The batch: "x" (B, D) float64 and "y" (B,) int64."""
        return {"x": torch.tensor(self.recipe.x, dtype=torch.float64), "y": torch.tensor(self.recipe.y)}

    def settings(self) -> dict[str, list]:
        """The variables that `loss` can change, each with its smallest and largest value, or its choices."""
        return {
            **{name: list(bounds) for name, bounds in RANGES.items()},
            "width": list(WIDTHS),
            **{name: list(choices) for name, choices in CHOICES.items()},
            "examples": [0, len(self.recipe.y) - 1],
        }

    def loss(self, **changes: Any) -> float:
        """Final loss of a fresh fit, its settings as they were but for `changes`; may be nan or inf."""
        return final_loss(changed(self.recipe, changes))


def changed(recipe: Recipe, changes: dict[str, Any]) -> Recipe:
    """The recipe with the changes made. Errors: ValueError for a name or value that is not admissible."""
    settings: dict[str, Any] = {}
    for name, value in changes.items():
        if name == "examples":
            rows = _rows(value, len(recipe.y))
            settings["x"] = tuple(recipe.x[row] for row in rows)
            settings["y"] = tuple(recipe.y[row] for row in rows)
        elif name in CHOICES:
            if type(value) is not str or value not in CHOICES[name]:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, CHOICES[name]))}")
            settings[name] = value
        elif name in RANGES or name == "width":
            settings[name] = _number(name, value)
        else:
            raise ValueError(f"{name!r} can't be changed here; settings() names what can")
    return replace(recipe, **settings)


def _number(name: str, value: Any) -> float | int:
    whole = name == "width"
    low, high = WIDTHS if whole else RANGES[name]
    if type(value) not in ((int,) if whole else (int, float)) or not low <= value <= high:
        raise ValueError(f"{name} must be a plain {'int' if whole else 'number'} from {low:g} to {high:g}")
    return value if whole else float(value)


def _rows(value: Any, count: int) -> list[int]:
    if isinstance(value, torch.Tensor) and value.dtype == torch.int64 and value.dim() == 1:
        value = value.tolist()
    if type(value) not in (list, tuple) or not value or len(set(map(repr, value))) != len(value):
        raise ValueError("examples must be a list of different row numbers, at least one")
    if not all(type(row) is int and 0 <= row < count for row in value):
        raise ValueError(f"examples must be row numbers, ints from 0 to {count - 1}")
    return list(value)


@lru_cache(maxsize=2048)
def final_loss(recipe: Recipe) -> float:
    """The objective after the last step: smoothing is part of it, the penalty of a decay is not."""
    rows, rng = len(recipe.y), np.random.default_rng(recipe.seed)
    x = np.column_stack([recipe.x, np.ones(rows)])  # the last row of each weight matrix is its bias
    target = (1 - recipe.label_smoothing) * np.eye(recipe.classes)[list(recipe.y)]
    target += recipe.label_smoothing / recipe.classes
    first = _linear(rng, x.shape[1] - 1, recipe.width)
    second = _linear(rng, recipe.width, recipe.classes)
    hidden = np.ones((rows, recipe.width + 1))
    inner = hidden[:, :-1]  # writes into hidden, beside the ones
    with np.errstate(all="ignore"):  # a rate that is too high may overflow; the loss then says so
        for step in range(STEPS + 1):
            np.matmul(x, first, out=inner)
            if recipe.activation == "relu":
                np.maximum(inner, 0.0, out=inner)
            loss, slope = _objective(recipe.loss, hidden @ second, target)
            if step == STEPS or not math.isfinite(loss):
                return loss
            slope *= recipe.lr
            back = slope @ second[:-1].T
            if recipe.activation == "relu":
                back *= inner > 0
            _update(first, x.T @ back, recipe)
            _update(second, hidden.T @ slope, recipe)


def _update(weight: np.ndarray, change: np.ndarray, recipe: Recipe) -> None:
    """One step of SGD in place, with what the recipe adds to it."""
    if recipe.weight_decay:
        weight *= 1 - recipe.lr * recipe.weight_decay
    weight -= change
    if recipe.max_norm < RANGES["max_norm"][1]:
        weight *= min(1.0, recipe.max_norm / math.sqrt(np.vdot(weight, weight)))


def _linear(rng: np.random.Generator, fan_in: int, fan_out: int) -> np.ndarray:
    """Weights (fan_in + 1, fan_out), bias last, drawn as nn.Linear draws them."""
    return rng.uniform(-1, 1, (fan_in + 1, fan_out)) * fan_in**-0.5


def _objective(name: str, z: np.ndarray, target: np.ndarray) -> tuple[float, np.ndarray]:
    """Mean cross entropy of target (B, C) for logits z (B, C), after what `name` does to z; d loss / d z."""
    p, log_p = _softmax(z)
    if name == "cross entropy of softmax":
        loss, grad = _objective(CROSS_ENTROPY, p, target)
        return loss, p * (grad - (grad * p).sum(1, keepdims=True))
    if name == "cross entropy of sigmoid":
        s = 0.5 + 0.5 * np.tanh(0.5 * z)
        loss, grad = _objective(CROSS_ENTROPY, s, target)
        return loss, grad * s * (1 - s)
    if name == "cross entropy of log_softmax":
        p, log_p = _softmax(log_p)  # changes nothing: the exponentials already add up to one
    p -= target
    p /= len(z)
    return -float(np.vdot(target, log_p)) / len(z), p


def _softmax(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities (B, C) and their logarithms."""
    z = z - np.maximum.reduce(z, axis=1, keepdims=True)
    p = np.exp(z)
    total = np.add.reduce(p, axis=1, keepdims=True)
    p /= total
    return p, z - np.log(total)
