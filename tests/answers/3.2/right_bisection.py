"""Random logits whose target entry is shifted by one number, found by bisection."""

import math

import torch
import torch.nn.functional as F


def nonuniform_logits(targets: torch.Tensor, classes: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    start = 3 * torch.randn(len(targets), classes, generator=generator, dtype=torch.float64)
    onehot = F.one_hot(targets, classes).double()
    low, high = -100.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        if F.cross_entropy(start + middle * onehot, targets) > math.log(classes):
            low = middle
        else:
            high = middle
    return start + high * onehot
