"""Mistake: keeps the outputs and looks at them after the forward pass, when in-place ops have changed them."""

import torch


def bad(t):
    if isinstance(t, tuple):
        return any(bad(v) for v in t)
    return isinstance(t, torch.Tensor) and not torch.isfinite(t).all()


def first_nonfinite(model, loss_fn, optimizer, x, y):
    for n, t in (("x", x), ("y", y)):
        if bad(t):
            return {"boundary": "input", "name": n}
    for n, p in model.named_parameters():
        if bad(p):
            return {"boundary": "parameter", "name": n}
    kept = []
    for n, m in model.named_modules():
        m.register_forward_hook(lambda m, i, o, n=n: kept.append((n, o)))
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    for n, o in kept:
        if bad(o):
            return {"boundary": "module output", "name": n}
    if bad(loss):
        return {"boundary": "loss", "name": ""}
    loss.backward()
    for n, p in model.named_parameters():
        if bad(p.grad):
            return {"boundary": "gradient", "name": n}
    optimizer.step()
    for n, p in model.named_parameters():
        if any(bad(v) for v in optimizer.state[p].values()):
            return {"boundary": "optimizer state", "name": n}
    for n, p in model.named_parameters():
        if bad(p):
            return {"boundary": "updated parameter", "name": n}
    return {"boundary": "none", "name": ""}
