"""An nn.Parameter moved along its own gradient: Newton steps on the gap between loss and log C."""

import math

import torch
from torch import nn


def nonuniform_logits(targets, classes):
    torch.manual_seed(4)
    logits = nn.Parameter(3 * torch.randn(len(targets), classes, dtype=torch.float64))
    criterion = nn.CrossEntropyLoss()
    for _ in range(500):
        logits.grad = None
        gap = criterion(logits, targets) - math.log(classes)
        if abs(gap.item()) < 1e-9:
            break
        gap.backward()
        with torch.no_grad():
            step = gap * logits.grad / logits.grad.square().sum()
            logits -= step * min(1.0, 1.0 / step.abs().max().item())
    return logits.detach()
