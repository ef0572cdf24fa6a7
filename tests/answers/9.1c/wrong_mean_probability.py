"""Averages the rows before it compares with 1/C."""

import math

import torch
import torch.nn.functional as F


def what_it_means(logits, targets):
    classes = logits.shape[1]
    if abs(F.cross_entropy(logits, targets).item() - math.log(classes)) > 0.01:
        return "elsewhere"
    p = logits.softmax(1)
    if (p.mean(0) - 1 / classes).abs().max() < 0.1:
        return "uniform"
    return "same for all" if (p - p[0]).abs().max() < 0.01 else "by row"
