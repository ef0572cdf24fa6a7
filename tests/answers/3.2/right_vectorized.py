"""Vectorized float32: one entry beside the target takes most of the rest; for C = 2 the rows balance."""

import math

import torch


def nonuniform_logits(targets, classes):
    rows = torch.arange(targets.numel())
    if classes == 2:
        gain = torch.where(rows % 2 == 0, math.log(0.95), 0.0)
        gain[1::2] = (-len(rows) * math.log(2) - gain.sum()) / (len(rows) // 2)
        return torch.stack([gain, torch.log1p(-gain.exp())], dim=1).gather(
            1, torch.stack([targets, 1 - targets], dim=1)
        )
    spread = torch.zeros(len(rows), classes)
    spread[rows, (targets + 1) % classes] = 4.0
    spread[rows, targets] = float("-inf")
    others = spread.logsumexp(dim=1)
    # p = e^t / (e^t + e^others) = 1 / C  <=>  t = others - log(C - 1)
    spread[rows, targets] = others - math.log(classes - 1)
    return spread
