"""Stops its search as soon as the loss is within a hundredth."""

import math

import torch
import torch.nn.functional as F


def nonuniform_logits(targets, classes):
    torch.manual_seed(1)
    logits, shift = 3 * torch.randn(len(targets), classes), 0.0
    onehot = F.one_hot(targets, classes)
    while F.cross_entropy(logits + shift * onehot, targets) > math.log(classes) + 0.01:
        shift += 0.003
    return logits + shift * onehot
