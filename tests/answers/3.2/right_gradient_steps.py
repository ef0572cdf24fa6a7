"""An nn.Parameter moved along its own gradient: Newton steps on the gap, another start if too uniform."""

import math

import torch
from torch import nn

criterion = nn.CrossEntropyLoss()


def descend(logits, targets, goal):
    for _ in range(500):
        logits.grad = None
        gap = criterion(logits, targets) - goal
        if abs(gap.item()) < 1e-9:
            return logits.detach()
        gap.backward()
        with torch.no_grad():
            step = gap * logits.grad / logits.grad.square().sum()
            logits -= step * min(1.0, 1.0 / step.abs().max().item())
    return None


def nonuniform_logits(targets, classes):
    torch.manual_seed(4)
    while True:
        start = nn.Parameter(4 * torch.randn(len(targets), classes, dtype=torch.float64))
        found = descend(start, targets, math.log(classes))
        if found is not None and found.softmax(1).amax(1).mean() > 1.3 / classes:
            return found
