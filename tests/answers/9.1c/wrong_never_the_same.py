"""Two kinds only: uniform or not."""

import math

import torch
import torch.nn.functional as F


def what_it_means(logits, targets):
    classes = logits.shape[1]
    if abs(F.cross_entropy(logits, targets).item() - math.log(classes)) > 0.01:
        return "elsewhere"
    p = logits.softmax(1)
    return "uniform" if (p - 1 / classes).abs().max() < 0.1 / classes else "by row"
