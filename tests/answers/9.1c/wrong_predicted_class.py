"""Compares the predicted classes, not the probabilities."""

import math

import torch
import torch.nn.functional as F


def what_it_means(logits, targets):
    classes = logits.shape[1]
    if abs(F.cross_entropy(logits, targets).item() - math.log(classes)) > 0.01:
        return "elsewhere"
    predicted = logits.argmax(1)
    if len(predicted.unique()) == classes:
        return "uniform"
    return "same for all" if len(predicted.unique()) == 1 else "by row"
