"""Zero logits: the loss is right, and every row is uniform."""

import torch


def nonuniform_logits(targets, classes):
    return torch.zeros(len(targets), classes)
