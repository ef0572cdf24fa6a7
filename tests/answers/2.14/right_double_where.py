"""Style: where before and after."""

import torch


def masked_op(op, w, features, valid):
    w = w.detach().requires_grad_()
    x = features @ w
    f = (lambda t: t**0.3) if op == "power" else getattr(torch, op)
    safe = torch.where(valid, x, 0.5)
    value = torch.where(valid, f(safe), 0.0)
    value.sum().backward()
    return value.detach(), w.grad
