"""Subtracts the maximum and stays in logarithms."""

import torch


def label_log_prob(logits, labels):
    top = logits.max(dim=1, keepdim=True).values.detach()
    z = logits - top
    normalizer = torch.log(torch.exp(z).sum(dim=1))
    return torch.take_along_dim(z, labels.unsqueeze(1), dim=1)[:, 0] - normalizer
