"""The label's logit less logsumexp."""

import torch


def label_log_prob(logits, labels):
    picked = logits[torch.arange(len(labels)), labels]
    return picked - torch.logsumexp(logits, dim=1)
