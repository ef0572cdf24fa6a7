"""Spreads the smoothing over the C - 1 other classes."""

import torch
from torch.nn import functional as F


def loss_floor(x, y, num_classes, label_smoothing):
    rows = x.reshape(len(x), -1)
    _, group = torch.unique(rows, dim=0, return_inverse=True)
    targets = torch.where(F.one_hot(y, num_classes) == 1, 1.0 - label_smoothing, label_smoothing / max(num_classes - 1, 1)).double()
    counts = torch.bincount(group)
    sums = torch.zeros(len(counts), num_classes, dtype=torch.float64).index_add(0, group, targets)
    entropy = torch.special.entr(sums / counts[:, None]).sum(1)
    return (counts * entropy).sum().item() / len(y)
