"""Returns the last batch's logits."""

import torch
import torch.nn.functional as F


def evaluate(model, batches):
    flags = [(m, m.training) for m in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            logits = [model(x) for x, _ in batches][-1]
            labels = torch.cat([y for _, y in batches])
            loss = F.cross_entropy(logits, batches[-1][1]).item()
        return loss, logits
    finally:
        for module, flag in flags:
            module.training = flag
