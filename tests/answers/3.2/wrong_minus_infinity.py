"""All of the rest to one class, and probability 0 elsewhere."""

import math

import torch


def nonuniform_logits(targets, classes):
    rows = torch.arange(len(targets))
    p = torch.zeros(len(targets), classes)
    p[rows, (targets + 1) % classes] = 1 - 1 / classes
    p[rows, targets] = 1 / classes
    return p.log()
