"""Pairs a confident row with a doubtful one; an odd row is left over confident."""

import math

import torch


def nonuniform_logits(targets, classes):
    p = 0.9
    logits = torch.zeros(len(targets), classes)
    for i, target in enumerate(targets):
        q = p if i % 2 == 0 else (1 / classes) ** 2 / p
        logits[i] = math.log((1 - q) / (classes - 1))
        logits[i, target] = math.log(q)
    return logits
