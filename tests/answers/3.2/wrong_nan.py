"""A division that ends in NaN, which no comparison should let pass."""

import torch


def nonuniform_logits(targets, classes):
    return torch.full((len(targets), classes), torch.nan)
