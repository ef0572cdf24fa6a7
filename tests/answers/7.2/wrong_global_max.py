"""Subtracts the maximum of the whole batch."""

import torch
import torch.nn.functional as F


def label_log_prob(logits, labels):
    z = logits - logits.max()
    return (z - z.exp().sum(1, keepdim=True).log()).gather(1, labels[:, None]).squeeze(1)
