"""Running sum weighted by batch size; names of the modules kept."""

import torch
import torch.nn.functional as F


def evaluate(model, batches):
    was_on = [name for name, module in model.named_modules() if module.training]
    model.train(False)
    try:
        total = 0.0
        seen = 0
        parts = []
        for inputs, labels in batches:
            with torch.no_grad():
                out = model(inputs)
            parts.append(out)
            total = total + float(F.cross_entropy(out, labels)) * labels.shape[0]
            seen = seen + labels.shape[0]
    finally:
        for name in was_on:
            model.get_submodule(name).training = True
    return total / seen, torch.vstack(parts)
