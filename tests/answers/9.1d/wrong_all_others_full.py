"""Every other class gets the whole loss: log(C - 1) too much."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.full((classes,), loss, dtype=dtype)
    z[target] = -0.05 * loss
    return z if z.softmax(0).log()[target].isinf() else None
