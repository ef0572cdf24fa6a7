"""Builds the best logits, log of the averaged target, and lets cross_entropy measure them."""

import torch
from torch.nn import functional as F


def loss_floor(x, y, num_classes, label_smoothing):
    B = y.numel()
    keys = [tuple(r) for r in x.reshape(B, -1).tolist()]
    index = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    group = torch.tensor([index[key] for key in keys])
    table = torch.zeros(len(index), num_classes, dtype=torch.float64)
    table.index_put_((group, y), torch.ones(B, dtype=torch.float64), accumulate=True)
    share = table / table.sum(1, keepdim=True)
    best = ((1 - label_smoothing) * share + label_smoothing / num_classes).clamp_min(1e-300).log()
    return F.cross_entropy(best[group], y, label_smoothing=label_smoothing).item()
