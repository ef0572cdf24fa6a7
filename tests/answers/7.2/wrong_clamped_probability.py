"""Clamps the probability from below."""

import torch
import torch.nn.functional as F


def label_log_prob(logits, labels):
    return torch.softmax(logits, 1).clamp_min(1e-38).log().gather(1, labels[:, None]).squeeze(1)
