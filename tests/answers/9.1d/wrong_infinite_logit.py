"""Makes the probability zero with an infinite logit."""

import torch


def breaking_logits(loss, target, classes, dtype):
    z = torch.zeros(classes, dtype=dtype)
    z[target] = -float("inf")
    return z
