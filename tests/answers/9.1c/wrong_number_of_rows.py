"""Takes log of the number of rows."""

import math

import torch
import torch.nn.functional as F


def what_it_means(logits, targets):
    classes = len(logits)
    if abs(F.cross_entropy(logits, targets).item() - math.log(classes)) > 0.01:
        return "elsewhere"
    p = logits.softmax(1)
    if (p - 1 / classes).abs().max() < 0.1 / classes:
        return "uniform"
    return "same for all" if (p - p[0]).abs().max() < 0.01 else "by row"
