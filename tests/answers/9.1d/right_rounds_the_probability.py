"""Rounds the probability itself to the dtype: does it become zero?"""

import torch


def breaking_logits(loss, target, classes, dtype):
    probability = torch.tensor(-loss, dtype=torch.float64).exp().to(dtype)
    if probability > 0:
        return None
    z = [0.0] * classes
    z[target] = -loss
    return torch.tensor([v - (loss if i not in (target, (target + 1) % classes) else 0) for i, v in enumerate(z)], dtype=dtype)
