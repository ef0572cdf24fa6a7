"""Layers, losses and preparations that hold the gallery's faults, and two that only look like one."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .exhibit import CLASSES, FEATURES, WIDTH


class Distances(nn.Module):
    """Hidden units with their distance from the batch's first row; the first row's own is exactly zero."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(FEATURES, WIDTH), nn.Linear(WIDTH + 1, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.body(x))
        distance = (h - h[:1]).square().sum(1, keepdim=True).sqrt()
        return self.head(torch.cat([h, distance], dim=1))


class RootUnit(nn.Module):
    """The root of what is positive, and zero elsewhere; but the root is taken everywhere."""

    def forward(self, h: Tensor) -> Tensor:
        return torch.where(h > 0, torch.sqrt(h), torch.zeros_like(h))


class Attention(nn.Module):
    """A weighted mean of three slots; slots below -2 are masked."""

    def __init__(self) -> None:
        super().__init__()
        self.score, self.value = nn.Linear(FEATURES, 3), nn.Linear(FEATURES, WIDTH)
        self.head = nn.Linear(WIDTH + 3, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        weights = self.score(x).masked_fill(x[:, :3] < -2, -torch.inf).softmax(dim=1)
        return self.head(torch.cat([torch.relu(self.value(x)), weights * x[:, :3]], dim=1))


class OverBatch(nn.Module):
    """Units standardized over the batch, with the standard deviation that divides by n - 1."""

    def forward(self, h: Tensor) -> Tensor:
        return (h - h.mean(0)) / (h.std(0) + 1e-5)


class HalfDirections(nn.Module):
    """Hidden units beside the direction of the positive inputs, computed in half precision."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(FEATURES, WIDTH), nn.Linear(WIDTH + FEATURES, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        half = torch.relu(x).half()
        direction = half / (half.norm(dim=1, keepdim=True) + torch.tensor(1e-8).half())
        return self.head(torch.cat([torch.relu(self.body(x)), direction.float()], dim=1))


class Precision(nn.Module):
    """Logits times a precision that is exp of a linear function of the inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(FEATURES, WIDTH), nn.Linear(WIDTH, CLASSES)
        self.log = nn.Linear(FEATURES, 1)
        nn.init.constant_(self.log.weight, 2.7)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.body(x))) * torch.exp(self.log(x))


class ListedLayers(nn.Module):
    """Two hidden layers in a plain list, which the module does not see, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = [nn.Linear(FEATURES, WIDTH), nn.Linear(WIDTH, WIDTH)]
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.head(x)


class PlainScale(nn.Module):
    """A network whose units are scaled by a tensor that is no Parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(FEATURES, WIDTH), nn.Linear(WIDTH, CLASSES)
        self.scale = torch.ones(WIDTH, requires_grad=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.body(x)) * self.scale)


class StubbornDropout(nn.Module):
    """Dropout whose mode nobody sets."""

    def forward(self, h: Tensor) -> Tensor:
        return F.dropout(h, 0.5)


class LargestUnit(nn.Module):
    """Keeps each row's largest unit and sets the others to zero."""

    def forward(self, h: Tensor) -> Tensor:
        return torch.where(h == h.max(dim=1, keepdim=True).values, h, torch.zeros_like(h))


def masked_mean(outputs: Tensor, y: Tensor) -> Tensor:
    """Mean cross entropy of the targets that are not ignored, by hand."""
    scored = (y != -100).float()
    losses = -F.log_softmax(outputs, dim=1).gather(1, y.clamp_min(0)[:, None]).squeeze(1)
    return (losses * scored).sum() / scored.sum()


def squared_difference(outputs: Tensor, y: Tensor) -> Tensor:
    """Mean of squared residuals, whatever shape they get."""
    return (outputs - y).square().mean()


def by_all_rows(rows: Tensor, held_out: Tensor) -> tuple[Tensor, Tensor]:
    """Both splits in units of the spread of all rows."""
    together = torch.cat([rows, held_out])
    return tuple((part - together.mean(0)) / together.std(0) for part in (rows, held_out))
