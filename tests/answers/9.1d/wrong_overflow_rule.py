"""Thinks that exp(loss) must overflow."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.zeros(classes, dtype=dtype)
    z[(target + 1) % classes] = loss
    return z if torch.tensor(loss, dtype=dtype).exp().isinf() and dtype == torch.float32 else None
