"""Random logits, in the hope that their mean loss is near log C."""

import torch


def nonuniform_logits(targets, classes):
    torch.manual_seed(0)
    return torch.randn(len(targets), classes)
