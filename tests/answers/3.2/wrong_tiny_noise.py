"""Almost uniform: noise so small that the loss does not notice."""

import torch


def nonuniform_logits(targets, classes):
    return 1e-4 * torch.randn(len(targets), classes, dtype=torch.float64)
