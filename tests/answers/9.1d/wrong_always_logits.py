"""Never says that there are none."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.zeros(classes, dtype=dtype)
    z[(target + 1) % classes] = loss
    return z
