"""Mistake: multiplies the output by the mask."""

import torch


def masked_op(op, w, features, valid):
    w = w.detach().requires_grad_()
    x = features @ w
    f = (lambda t: t**0.3) if op == "power" else getattr(torch, op)
    safe = x
    value = f(safe) * valid
    value.sum().backward()
    return value.detach(), w.grad
