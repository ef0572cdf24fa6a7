"""Mistake: takes the absolute value of every argument."""

import torch


def masked_op(op, w, features, valid):
    w = w.detach().requires_grad_()
    x = features @ w
    f = (lambda t: t**0.3) if op == "power" else getattr(torch, op)
    safe = x.abs()
    value = torch.where(valid, f(safe), 0.0)
    value.sum().backward()
    return value.detach(), w.grad
