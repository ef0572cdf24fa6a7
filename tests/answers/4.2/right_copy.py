"""Style: a deep copy is measured, so that nothing needs to be restored."""

import copy

import torch
from torch import nn


def same_terms(model, train, val, weight_decay):
    clone = copy.deepcopy(model).eval().requires_grad_(False)
    criterion = nn.CrossEntropyLoss(reduction="none")
    means = [torch.cat([criterion(clone(x), y) for x, y in part]).mean() for part in (train, val)]
    penalty = 0.5 * weight_decay * sum(torch.linalg.vector_norm(p) ** 2 for p in clone.parameters())
    return {"train": float(means[0]), "val": float(means[1]), "penalty": float(penalty)}
