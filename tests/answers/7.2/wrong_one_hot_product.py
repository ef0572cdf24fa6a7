"""Multiplies by a one-hot: zero times minus infinity."""

import torch
import torch.nn.functional as F


def label_log_prob(logits, labels):
    return (F.log_softmax(logits, 1) * F.one_hot(labels, logits.shape[1])).sum(1)
