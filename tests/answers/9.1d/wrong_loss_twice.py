"""Plus and minus the loss: twice the loss."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.zeros(classes, dtype=dtype)
    z[target], z[(target + 1) % classes] = -loss, loss
    return z if z.softmax(0)[target] == 0 else None
