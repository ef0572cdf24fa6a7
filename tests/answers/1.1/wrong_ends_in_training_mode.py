"""Ends in training mode, whatever mode the model came in."""

import torch
from torch.nn import functional as F


def overfit_one_batch(model, x, y, lr, steps):
    model.eval()
    model.zero_grad(set_to_none=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    record = []
    try:
        for _ in range(steps):
            optimizer.zero_grad()
            logits = model(x)
            loss = F.cross_entropy(logits, y)
            loss.backward()
            before = {name: p.detach().clone() for name, p in model.named_parameters()}
            gradients = {
                name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()
            }
            optimizer.step()
            changes = {name: p.detach() - before[name] for name, p in model.named_parameters()}
            record.append(
                {
                    "loss": loss.item(),
                    "predictions": logits.argmax(dim=1),
                    "gradients": gradients,
                    "changes": changes,
                }
            )
    finally:
        model.train()
    return record
