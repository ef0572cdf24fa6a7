"""Judges every dtype by float32's smallest number."""

import torch


def breaking_logits(loss, target, classes, dtype):
    if loss < 104:
        return None
    z = torch.zeros(classes, dtype=dtype)
    z[(target + 1) % classes] = loss
    return z
