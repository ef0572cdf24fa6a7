"""Right value without a graph."""

import torch
import torch.nn.functional as F


def label_log_prob(logits, labels):
    with torch.no_grad():
        return F.log_softmax(logits, 1).gather(1, labels[:, None]).squeeze(1)
