"""Log of softmax in float64, cast back."""

import torch
import torch.nn.functional as F


def label_log_prob(logits, labels):
    return torch.log(torch.softmax(logits.double(), 1)).gather(1, labels[:, None]).squeeze(1).to(logits.dtype)
