"""Compares raw logits with zero and with each other."""

import math

import torch
import torch.nn.functional as F


def what_it_means(logits, targets):
    if abs(F.cross_entropy(logits, targets).item() - math.log(logits.shape[1])) > 0.01:
        return "elsewhere"
    if logits.abs().max() < 0.1:
        return "uniform"
    return "same for all" if (logits - logits[0]).abs().max() < 0.01 else "by row"
