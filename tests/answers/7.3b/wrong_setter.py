"""Switches gradients with a setter and turns them on at the end."""

import torch
import torch.nn.functional as F


def evaluate(model, batches):
    flags = [(m, m.training) for m in model.modules()]
    model.eval()
    try:
        torch.set_grad_enabled(False)
        if True:
            logits = torch.cat([model(x) for x, _ in batches])
            labels = torch.cat([y for _, y in batches])
            loss = F.cross_entropy(logits, labels).item()
        return loss, logits
    finally:
        torch.set_grad_enabled(True)
        for module, flag in flags:
            module.training = flag
