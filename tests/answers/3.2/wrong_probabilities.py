"""Returns probabilities where logits are asked for."""

import torch


def nonuniform_logits(targets, classes):
    rows = torch.arange(len(targets))
    p = torch.full((len(targets), classes), 0.2 * (1 - 1 / classes) / max(classes - 2, 1))
    p[rows, (targets + 1) % classes] = 0.8 * (1 - 1 / classes)
    p[rows, targets] = 1 / classes
    return p
