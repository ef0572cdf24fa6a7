"""Raw exponentials overflow."""

import torch
import torch.nn.functional as F


def label_log_prob(logits, labels):
    return logits.gather(1, labels[:, None]).squeeze(1) - logits.exp().sum(1).log()
