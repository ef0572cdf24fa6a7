"""Takes rows with the same sum for the same input."""

import torch
from torch.nn import functional as F


def loss_floor(x, y, num_classes, label_smoothing):
    rows = x.reshape(len(x), -1)
    _, group = torch.unique(rows.sum(1), return_inverse=True)
    targets = (1 - label_smoothing) * F.one_hot(y, num_classes).double() + label_smoothing / num_classes
    counts = torch.bincount(group)
    sums = torch.zeros(len(counts), num_classes, dtype=torch.float64).index_add(0, group, targets)
    entropy = torch.special.entr(sums / counts[:, None]).sum(1)
    return (counts * entropy).sum().item() / len(y)
