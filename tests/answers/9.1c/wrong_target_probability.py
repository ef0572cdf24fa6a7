"""Looks at the target's probability only."""

import math

import torch
import torch.nn.functional as F


def what_it_means(logits, targets):
    classes = logits.shape[1]
    p = logits.softmax(1)[torch.arange(len(targets)), targets]
    if abs(-p.log().mean().item() - math.log(classes)) > 0.01:
        return "elsewhere"
    if (p - 1 / classes).abs().max() < 0.1 / classes:
        return "uniform"
    return "same for all" if p.std() < 0.01 else "by row"
