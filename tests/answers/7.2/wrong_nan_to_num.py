"""Hides the infinity."""

import torch
import torch.nn.functional as F


def label_log_prob(logits, labels):
    return (
        torch.log(torch.softmax(logits, 1)).nan_to_num(neginf=-2000.0).gather(1, labels[:, None]).squeeze(1)
    )
