"""Evaluates a copy, so nothing needs restoring."""

import copy

import torch


def evaluate(model, batches):
    twin = copy.deepcopy(model)
    twin.eval()
    with torch.set_grad_enabled(False):
        logits = torch.cat(tuple(twin(x) for x, _ in batches), dim=0)
    picked = torch.log_softmax(logits, 1)[torch.arange(len(logits)), torch.cat([y for _, y in batches])]
    return -picked.mean().item(), logits
