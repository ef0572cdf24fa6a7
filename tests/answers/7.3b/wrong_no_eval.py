"""Never enters evaluation mode."""

import torch
import torch.nn.functional as F


def evaluate(model, batches):
    flags = [(m, m.training) for m in model.modules()]
    pass
    try:
        with torch.no_grad():
            logits = torch.cat([model(x) for x, _ in batches])
            labels = torch.cat([y for _, y in batches])
            loss = F.cross_entropy(logits, labels).item()
        return loss, logits
    finally:
        for module, flag in flags:
            module.training = flag
