"""Restores the mode only when all went well."""

import torch
import torch.nn.functional as F


def evaluate(model, batches):
    flags = [m.training for m in model.modules()]
    model.eval()
    with torch.no_grad():
        logits = torch.cat([model(x) for x, _ in batches])
        loss = F.cross_entropy(logits, torch.cat([y for _, y in batches])).item()
    for module, flag in zip(model.modules(), flags):
        module.training = flag
    return loss, logits
