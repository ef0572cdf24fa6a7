"""The entropy of the rows tells uniform ones; centered logits tell equal ones."""

import math

import torch
import torch.nn.functional as F


def what_it_means(logits, targets):
    z = logits.double()
    top = math.log(z.shape[1])
    if abs(F.cross_entropy(z, targets).item() - top) > 0.01:
        return "elsewhere"
    entropy = torch.special.entr(z.softmax(1)).sum(1)
    if entropy.min() > top - 0.003:
        return "uniform"
    centered = z - z.mean(1, keepdim=True)
    return "same for all" if torch.allclose(centered, centered[:1].expand_as(centered), atol=1e-3) else "by row"
