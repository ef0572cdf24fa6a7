"""An exhibit: a small training run with everything in the open, in good order until something is planted in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CLASSES, WIDTH, FEATURES = 3, 32, 6
ROWS, HELD_OUT, BATCH = 45, 24, 9

Objective = Callable[[Tensor, Tensor], Tensor]


def by_training_rows(rows: Tensor, held_out: Tensor) -> tuple[Tensor, Tensor]:
    """Both splits in units of the training rows' spread, from their mean; missing cells stay missing."""
    mean = rows.nanmean(0)
    spread = (rows - mean).square().nanmean(0).sqrt()
    return (rows - mean) / spread, (held_out - mean) / spread


@dataclass
class Exhibit:
    """One run: data, model, objective and the way in which it trains and evaluates itself.

    raw [N, F], y [N], ids [N], people [N]: the training rows as supplied; held_raw, held_y, held_people likewise.
    catalog: the recorded label of each training id. limits: the range in which raw values are meant to lie.
    prepare: raw rows of both splits to model inputs. batches: training rows of each batch.
    objective: from outputs and targets to a loss. takes: what it is meant to be given, "logits",
        "log-probabilities" or "numbers". floor: the least loss that any model can have on the first batch.
    learns: the tensors that are meant to learn, by name, registered or not.
    clears: whether a step clears the gradients first; every: steps that gather gradients for one update.
    mutes: whether evaluation turns gradients off; keeps_tensors: whether it stores losses as tensors.
    by_batch: whether its number is the mean of the batches' means.
    """

    raw: Tensor
    y: Tensor
    people: Tensor
    held_raw: Tensor
    held_y: Tensor
    held_people: Tensor
    model: nn.Module
    ids: Tensor = field(default_factory=lambda: 1000 + 7 * torch.arange(ROWS))
    objective: Objective = F.cross_entropy
    takes: str = "logits"
    floor: float = 0.0
    rate: float = 1.0
    limits: tuple[float, float] = (-20.0, 20.0)
    prepare: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = by_training_rows
    batches: list[Tensor] = field(default_factory=lambda: list(torch.arange(ROWS).split(BATCH)))
    clears: bool = True
    every: int = 1
    mutes: bool = True
    keeps_tensors: bool = False
    by_batch: bool = False

    def __post_init__(self) -> None:
        self.catalog = self.y.clone()
        self.taken = 0
        self.set_up()

    def set_up(self) -> None:
        """Make inputs, the table of what learns, and an optimizer, from what the run consists of now."""
        self.x, self.held_x = self.prepare(self.raw, self.held_raw)
        self.learns: dict[str, Tensor] = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        self.optimizer = torch.optim.SGD(self.learns.values(), lr=self.rate)

    def step(self, batch: int = 0, factor: float = 1.0) -> float:
        """One step as this run takes it, at `factor` times its rate; returns the loss before it.

        Afterwards `seen` holds the inputs, outputs and loss.
        """
        rows = self.batches[batch]
        if self.clears and self.taken % self.every == 0:
            self.optimizer.zero_grad()
        self.taken += 1
        outputs = self.model(self.x[rows])
        loss = self.objective(outputs, self.y[rows])
        self.seen = {"inputs": self.x[rows], "outputs": outputs.detach(), "loss": loss.detach()}
        (loss / self.every).backward()
        if self.taken % self.every == 0:
            self.optimizer.param_groups[0]["lr"] = factor * self.rate
            self.optimizer.step()
        return loss.item()

    def train(self, passes: int) -> list[float]:
        """Mean loss of each pass over the batches, in order."""
        count = len(self.batches)
        return [sum(self.step(b) for b in range(count)) / count for _ in range(passes)]

    def evaluate(self) -> tuple[float, list]:
        """The run's own number on the held-out rows, and what it stored on the way."""
        self.model.eval()
        stored, sizes = [], []
        with torch.set_grad_enabled(not self.mutes):
            for rows in torch.arange(HELD_OUT).split(11):
                loss = self.objective(self.model(self.held_x[rows]), self.held_y[rows])
                stored.append(loss if self.keeps_tensors else loss.item())
                sizes.append(1 if self.by_batch else len(rows))
        self.model.train()
        return sum(float(s) * n for s, n in zip(stored, sizes)) / sum(sizes), stored

    @torch.no_grad()
    def predict(self, inputs: Tensor) -> Tensor:
        """Predicted classes in evaluation mode; regressions are rounded."""
        self.model.eval()
        outputs = self.model(inputs)
        self.model.train()
        if outputs.shape[1] == 1:
            return outputs.squeeze(1).nan_to_num(-9.0).round().long()
        return outputs.argmax(1)


def net(seed: int, *after: nn.Module) -> nn.Sequential:
    """A network with one hidden layer, and modules behind it."""
    torch.default_generator.manual_seed(seed)
    return nn.Sequential(nn.Linear(FEATURES, WIDTH), nn.ReLU(), nn.Linear(WIDTH, CLASSES), *after)


def in_order(seed: int) -> Exhibit:
    """A healthy run: three classes around centers, each person with rows of one class on one side."""
    torch.default_generator.manual_seed(seed)
    centers = torch.linalg.qr(torch.randn(FEATURES, FEATURES))[0][:CLASSES] * 2.5

    def split(count: int, first: int) -> tuple[Tensor, Tensor, Tensor]:
        people = first + torch.arange(count) // 3
        labels = people % CLASSES
        order = torch.randperm(count)
        return (centers[labels] + 0.7 * torch.randn(count, FEATURES))[order], labels[order], people[order]

    return Exhibit(*split(ROWS, 0), *split(HELD_OUT, ROWS), net(seed))
