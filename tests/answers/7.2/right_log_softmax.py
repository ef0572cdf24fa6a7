"""log_softmax and gather."""

import torch
import torch.nn.functional as F


def label_log_prob(logits, labels):
    return F.log_softmax(logits, dim=1).gather(1, labels[:, None]).squeeze(1)
