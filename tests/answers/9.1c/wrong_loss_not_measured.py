"""Looks at the predictions and never at the loss."""

import torch


def what_it_means(logits, targets):
    p = logits.softmax(1)
    if (p - 1 / p.shape[1]).abs().max() < 0.1 / p.shape[1]:
        return "uniform"
    return "same for all" if (p - p[0]).abs().max() < 0.01 else "by row"
