"""Balances the mean of the probabilities, not the mean of their logarithms."""

import math

import torch


def nonuniform_logits(targets, classes):
    n, c = len(targets), classes
    logits = torch.zeros(n, c, dtype=torch.float64)
    for i, target in enumerate(targets):
        q = 1.9 / c if i % 2 == 0 and i + 1 < n else 0.1 / c if i % 2 else 1 / c
        logits[i] = math.log((1 - q) / (c - 1))
        logits[i, target] = math.log(q)
    return logits
