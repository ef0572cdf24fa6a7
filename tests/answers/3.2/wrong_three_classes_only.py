"""Keeps 1/C for the target and gives the rest to one class; two classes leave no choice."""

import math

import torch


def nonuniform_logits(targets, classes):
    rows = torch.arange(len(targets))
    logits = torch.full((len(targets), classes), math.log(0.2 * (1 - 1 / classes) / max(classes - 2, 1)))
    logits[rows, (targets + 1) % classes] = math.log(0.8 * (1 - 1 / classes))
    logits[rows, targets] = math.log(1 / classes)
    return logits
