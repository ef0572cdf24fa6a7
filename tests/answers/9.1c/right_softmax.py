"""Probabilities against 1/C and against the first row."""

import math

import torch
import torch.nn.functional as F


def what_it_means(logits, targets):
    classes = logits.shape[1]
    if abs(F.cross_entropy(logits, targets).item() - math.log(classes)) > 0.01:
        return "elsewhere"
    p = logits.softmax(dim=1)
    if (p - 1 / classes).abs().max() <= 0.1 / classes:
        return "uniform"
    if (p - p[0]).abs().max() <= 0.01:
        return "same for all"
    return "by row"
