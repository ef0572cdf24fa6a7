"""Takes -log of the label's own probability and drops the rest of the smoothed target."""

import torch
from torch.nn import functional as F


def loss_floor(x, y, num_classes, label_smoothing):
    rows = x.reshape(len(x), -1)
    _, group = torch.unique(rows, dim=0, return_inverse=True)
    targets = (1 - label_smoothing) * F.one_hot(y, num_classes).double() + label_smoothing / num_classes
    counts = torch.bincount(group)
    sums = torch.zeros(len(counts), num_classes, dtype=torch.float64).index_add(0, group, targets)
    return -(sums / counts[:, None])[group, y].log().mean().item()
