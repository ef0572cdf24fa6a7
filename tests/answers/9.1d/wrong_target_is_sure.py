"""Raises the target's own logit: the loss is zero."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.zeros(classes, dtype=dtype)
    z[target] = loss
    return z if z.softmax(0).log().isinf().any() else None
