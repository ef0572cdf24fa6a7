"""Negative unreduced cross entropy."""

import torch
import torch.nn.functional as F


def label_log_prob(logits, labels):
    return -F.cross_entropy(logits, labels, reduction="none")
