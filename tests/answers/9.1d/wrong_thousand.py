"""The lesson's logits, whatever the loss."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.zeros(classes, dtype=dtype)
    z[target], z[(target + 1) % classes] = -1000, 1000
    return z if loss > 100 else None
