"""Believes that subtracting the maximum saves the logarithm, so that there never are any in 32 bits."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.zeros(classes, dtype=dtype)
    z[(target + 1) % classes] = loss
    shifted = z - z.max()
    if dtype in (torch.float32, torch.float64):
        return None
    return z if torch.log(shifted.softmax(0))[target].isinf() else None
