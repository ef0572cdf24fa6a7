"""Another constant in each row: softmax takes no notice."""

import torch


def nonuniform_logits(targets, classes):
    return torch.arange(1.0, len(targets) + 1)[:, None].repeat(1, classes)
