"""Thirty-four faults and twelve healthy runs, eleven of which look bad; one small exhibit each.

Each is a function that changes a run in good order, and may return one last change, to be made when the
optimizer stands. `gallery()` lists them.
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
    plant: Callable[[Exhibit], Callable[[], None] | None]

    def make(self) -> Exhibit:
        """The exhibit, fresh and always the same."""
        with torch.random.fork_rng(devices=[]):
            exhibit = in_order(SEED)
            late = self.plant(exhibit)
            exhibit.set_up()
            if late:
                late()
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
    """float32 ends at exp(88.7), and one row of the last batch gets there."""
    e.raw[40] = 18.0
    e.model, e.rate = layers.Precision(), 0.1


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


# the chain of the update


@_piece("layers in a Python list")
def _python_list(e: Exhibit) -> Callable[[], None]:
    """The hidden layers are no part of parameters()."""
    e.model = layers.ListedLayers()
    hidden = {f"hidden.{k}.{n}": p for k, layer in enumerate(e.model.hidden) for n, p in layer.named_parameters()}
    return lambda: e.learns.update(hidden)


@_piece("a plain tensor as a parameter")
def _plain_tensor(e: Exhibit) -> Callable[[], None]:
    e.model = layers.PlainScale()
    return lambda: e.learns.update(scale=e.model.scale)


@_piece("head replaced after the optimizer")
def _replaced_head(e: Exhibit) -> Callable[[], None]:
    def late() -> None:
        e.model[2] = nn.Linear(WIDTH, CLASSES)
        e.learns = dict(e.model.named_parameters())

    return late


@_piece("optimizer of another model")
def _other_model(e: Exhibit) -> Callable[[], None]:
    def late() -> None:
        e.optimizer = torch.optim.SGD(net(SEED).parameters(), lr=e.rate)

    return late


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


@_piece("only a frozen head in the optimizer")
def _frozen_head(e: Exhibit) -> Callable[[], None]:
    """Batch norm's averages drift, so the held-out loss moves although nothing learns."""
    e.model.insert(1, nn.BatchNorm1d(WIDTH))
    e.model[3].requires_grad_(False)

    def late() -> None:
        e.learns = dict(e.model.named_parameters())
        e.optimizer = torch.optim.SGD(e.model[3].parameters(), lr=e.rate)

    return late


@_piece("units that never fire")
def _dead_units(e: Exhibit) -> None:
    with torch.no_grad():
        e.model[0].bias.fill_(-30.0)


@_piece("learning rate far too small")
def _small_rate(e: Exhibit) -> None:
    e.rate = 1e-6


# evaluation and memory


@_piece("dropout left on in evaluation")
def _dropout_stays(e: Exhibit) -> None:
    """A functional dropout that eval() does not reach."""
    e.model.insert(2, layers.StubbornDropout())


@_piece("mean of the batches' means")
def _mean_of_means(e: Exhibit) -> None:
    """The last held-out batch has two rows, and they are hard."""
    e.by_batch = True
    e.held_y[-2:] = (e.held_y[-2:] + 1) % CLASSES


@_piece("graphs kept in a validation loop")
def _kept_graphs(e: Exhibit) -> None:
    e.mutes, e.keeps_tensors = False, True


# data, identity and split


@_piece("labels shuffled apart from inputs")
def _shuffled_apart(e: Exhibit) -> None:
    e.y = e.y[torch.randperm(len(e.y))]


@_piece("classes numbered in another order")
def _other_order(e: Exhibit) -> None:
    """Another version of the list of classes."""
    e.y = (e.y + 1) % CLASSES


@_piece("normalizer fitted before the split")
def _fitted_on_all(e: Exhibit) -> None:
    e.prepare = layers.by_all_rows


@_piece("one person on both sides of the split")
def _same_people(e: Exhibit) -> None:
    """Persons are recognized, not classes: every held-out person is known."""
    e.people[:] = torch.arange(len(e.y)) % 15
    e.held_people[:] = torch.arange(len(e.held_y)) % 15
    person = torch.randn(15, FEATURES) * 2
    label = torch.randperm(15) % CLASSES
    e.raw, e.y = person[e.people] + 0.2 * torch.randn_like(e.raw), label[e.people]
    e.held_raw, e.held_y = person[e.held_people] + 0.2 * torch.randn_like(e.held_raw), label[e.held_people]
    e.catalog = e.y.clone()


@_piece("differences that wrap around in uint8")
def _wrapped(e: Exhibit) -> None:
    e.raw, e.held_raw = ((10 * rows).round().to(torch.int64) % 256 * 1.0 for rows in (e.raw, e.held_raw))
    e.limits = (-128.0, 127.0)


@_piece("the target among the inputs")
def _leak(e: Exhibit) -> None:
    """A column that will not be there when the model is used; the others hold noise."""
    e.raw, e.held_raw = torch.randn_like(e.raw), torch.randn_like(e.held_raw)
    e.raw[:, 5], e.held_raw[:, 5] = e.y.float(), e.held_y.float()


# healthy runs, most of which look bad to some instrument


@_piece("a run in good order", broken=False)
def _healthy(e: Exhibit) -> None:
    pass


@_piece("label smoothing", broken=False)
def _smoothed(e: Exhibit) -> None:
    """No model gets below the entropy of the smoothed target."""
    e.objective = lambda outputs, y: F.cross_entropy(outputs, y, label_smoothing=0.1)
    e.floor = -(1 - 0.2 / 3) * math.log(1 - 0.2 / 3) - 2 * (0.1 / 3) * math.log(0.1 / 3)


@_piece("equal inputs with honest, different labels", broken=False)
def _contradiction(e: Exhibit) -> None:
    """Two rows of the first batch: the least mean loss is that of a coin on two rows of nine."""
    e.raw[1], e.y[1] = e.raw[0], (e.y[0] + 1) % CLASSES
    e.catalog = e.y.clone()
    e.floor = 2 * math.log(2) / 9


@_piece("dropout while training", broken=False)
def _dropout(e: Exhibit) -> None:
    e.model.append(nn.Dropout(0.4))


@_piece("a frozen body", broken=False)
def _frozen_body(e: Exhibit) -> None:
    e.model[0].requires_grad_(False)


@_piece("two batches for one update", broken=False)
def _gathered(e: Exhibit) -> None:
    e.every = 2


@_piece("one unit of thirty-two fires", broken=False)
def _sparse(e: Exhibit) -> None:
    """A layer that keeps its largest unit alone, on purpose."""
    e.model[1] = layers.LargestUnit()


@_piece("squared error on one-hot targets", broken=False)
def _squared(e: Exhibit) -> None:
    """Another objective, and a valid one."""
    e.objective, e.rate = lambda outputs, y: F.mse_loss(outputs, F.one_hot(y, CLASSES).float()), 0.3


@_piece("first steps of a warm-up", broken=False)
def _warm_up(e: Exhibit) -> None:
    e.rate = 1e-4


@_piece("a penalty in the reported loss", broken=False)
def _penalty(e: Exhibit) -> None:
    def objective(outputs: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(outputs, y) + 0.1 * sum(p.square().sum() for p in e.model.parameters()) / 10

    e.objective = objective


@_piece("a true outlier", broken=False)
def _outlier(e: Exhibit) -> None:
    e.raw[40, 1] = 25.0


@_piece("labels corrected, catalog not yet", broken=False)
def _corrected(e: Exhibit) -> None:
    e.catalog[[7, 21, 33]] = (e.catalog[[7, 21, 33]] + 1) % CLASSES
