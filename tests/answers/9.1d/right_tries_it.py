"""Builds the logits, and keeps them only if the naive composition breaks."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.zeros(classes, dtype=dtype)
    z[(target + 1) % classes] = loss
    return z if torch.log(torch.softmax(z, 0))[target].isinf() else None
