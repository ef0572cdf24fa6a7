"""Mistake: looks at the end of the step only: the loss, then gradients, then parameters."""

import torch


def first_nonfinite(model, loss_fn, optimizer, x, y):
    loss = loss_fn(model(x), y)
    if not torch.isfinite(loss):
        return {"boundary": "loss", "name": ""}
    loss.backward()
    for name, p in model.named_parameters():
        if p.grad is not None and not torch.isfinite(p.grad).all():
            return {"boundary": "gradient", "name": name}
    optimizer.step()
    for name, p in model.named_parameters():
        if not torch.isfinite(p).all():
            return {"boundary": "updated parameter", "name": name}
    return {"boundary": "none", "name": ""}
