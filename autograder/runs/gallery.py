"""Thirty-two faults and eleven healthy runs that look bad, one exhibit each, small enough to probe them all.

Each is a function that changes a run in good order; its docstring says how. `gallery()` lists them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import layers
from .exhibit import CLASSES, FEATURES, WIDTH, Exhibit, in_order, net

SEED = 19


@dataclass(frozen=True)
class Piece:
    """A piece of the gallery: its title, whether it is broken, and how it is made."""

    title: str
    broken: bool
    plant: Callable[[Exhibit], None]

    def make(self) -> Exhibit:
        """The exhibit, fresh and always the same."""
        with torch.random.fork_rng(devices=[]):
            exhibit = in_order(SEED)
            self.plant(exhibit)
            exhibit.set_up()
        return exhibit


_PIECES: list[Piece] = []


def gallery() -> list[Piece]:
    """All pieces: the broken runs by the place of their fault, then the healthy ones."""
    return list(_PIECES)


def open_exhibit(title: str) -> Exhibit:
    """A fresh exhibit by its title. Errors: KeyError with the titles."""
    for piece in _PIECES:
        if piece.title == title:
            return piece.make()
    raise KeyError(f"there is no exhibit {title!r}; there are {', '.join(repr(p.title) for p in _PIECES)}")


def _piece(title: str, broken: bool = True) -> Callable:
    def keep(plant: Callable[[Exhibit], None]) -> Callable[[Exhibit], None]:
        _PIECES.append(Piece(title, broken, plant))
        return plant

    return keep


# numbers that are not finite


@_piece("a nan among the inputs")
def _nan_input(e: Exhibit) -> None:
    """One cell of one row in the last batch."""
    e.raw[40, 2] = math.nan


@_piece("square root of a distance of zero")
def _root_of_zero(e: Exhibit) -> None:
    """The first row's distance from itself: finite forward, infinite times zero backward."""
    e.model = layers.Distances()


@_piece("where() around an invalid branch")
def _invalid_branch(e: Exhibit) -> None:
    """Roots of negative numbers, taken and not selected."""
    e.model[1] = layers.RootUnit()


@_piece("every target of a batch ignored")
def _all_ignored(e: Exhibit) -> None:
    """A mean over nothing: the loss is nan, its gradient zero."""
    e.y[e.batches[3]] = -100


@_piece("a mask without a valid element")
def _empty_mask(e: Exhibit) -> None:
    """The same with a hand-written mean: the gradient is nan, too."""
    e.y[e.batches[3]] = -100
    e.objective = layers.masked_mean


@_piece("an attention row masked in full")
def _masked_row(e: Exhibit) -> None:
    """A softmax over minus infinities, for one row of the last batch."""
    e.raw[40, :3] = -9.0
    e.model = layers.Attention()


@_piece("standard deviation of one example")
def _batch_of_one(e: Exhibit) -> None:
    """Units standardized over the batch, and a last batch of one row."""
    e.batches = list(torch.arange(45).split(11))
    e.model.insert(1, layers.OverBatch())


@_piece("an epsilon that float16 rounds to zero")
def _lost_epsilon(e: Exhibit) -> None:
    """1e-8 added to a norm of zero, in half precision."""
    e.raw[40] = -9.0
    e.model = layers.HalfDirections()


@_piece("exp of a large log-variance")
def _large_exp(e: Exhibit) -> None:
    """float32 ends at exp(88.7)."""
    e.model.append(layers.Precision())
    e.raw[40] = 15.0


@_piece("learning rate far too large")
def _large_rate(e: Exhibit) -> None:
    e.rate = 200.0


# the contract of the objective


@_piece("softmax twice")
def _softmax_twice(e: Exhibit) -> None:
    """Cross entropy of probabilities."""
    e.model.append(nn.Softmax(dim=1))


@_piece("softmax over the batch")
def _softmax_over_batch(e: Exhibit) -> None:
    e.model.append(nn.Softmax(dim=0))


@_piece("nll_loss of plain logits")
def _nll_of_logits(e: Exhibit) -> None:
    """No log_softmax: the loss has no lower bound."""
    e.objective, e.takes, e.rate = F.nll_loss, "log-probabilities", 0.02


@_piece("residuals of shape (B, B)")
def _broadcast(e: Exhibit) -> None:
    """(B, 1) minus (B,): every prediction against every target."""
    e.model[2] = nn.Linear(WIDTH, 1)
    e.objective, e.takes, e.rate = layers.squared_difference, "numbers", 0.05


@_piece("ReLU on the logits")
def _relu_on_logits(e: Exhibit) -> None:
    e.model.append(nn.ReLU())
    with torch.no_grad():
        e.model[2].bias[0] = -9.0  # one class is silent for every row, and stays so


# the chain of the update


@_piece("layers in a Python list")
def _python_list(e: Exhibit) -> None:
    """The hidden layers are no part of parameters()."""
    e.model = layers.ListedLayers()


@_piece("a plain tensor as a parameter")
def _plain_tensor(e: Exhibit) -> None:
    e.model = layers.PlainScale()


@_piece("head replaced after the optimizer")
def _replaced_head(e: Exhibit) -> None:
    e.after = "new head"


@_piece("optimizer of another model")
def _other_model(e: Exhibit) -> None:
    e.after = "other model"


@_piece("zero_grad forgotten")
def _never_cleared(e: Exhibit) -> None:
    e.clears = False


@_piece("loss detached")
def _detached(e: Exhibit) -> None:
    """And then told to require a gradient, so that backward() runs."""
    e.objective = lambda outputs, y: F.cross_entropy(outputs, y).detach().requires_grad_()


@_piece("all weights zero at the start")
def _all_zero(e: Exhibit) -> None:
    for p in e.model.parameters():
        nn.init.zeros_(p)
