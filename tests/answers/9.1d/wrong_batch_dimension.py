"""Logits of shape (1, C)."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.zeros(1, classes, dtype=dtype)
    z[0, (target + 1) % classes] = loss
    return z if z.softmax(1).log()[0, target].isinf() else None
