"""Mean of the batch means."""

import torch
import torch.nn.functional as F


def evaluate(model, batches):
    flags = [(m, m.training) for m in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            logits = torch.cat([model(x) for x, _ in batches])
            labels = torch.cat([y for _, y in batches])
            loss = sum(
                F.cross_entropy(o, y).item()
                for o, y in zip(logits.split([len(y) for _, y in batches]), [y for _, y in batches])
            ) / len(batches)
        return loss, logits
    finally:
        for module, flag in flags:
            module.training = flag
