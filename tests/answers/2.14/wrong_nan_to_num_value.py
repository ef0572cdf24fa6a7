"""Mistake: nan_to_num on the output leaves the derivative as it was."""

import torch


def masked_op(op, w, features, valid):
    w = w.detach().requires_grad_()
    x = features @ w
    f = (lambda t: t**0.3) if op == "power" else getattr(torch, op)
    safe = x
    value = torch.where(valid, f(safe).nan_to_num(0.0), 0.0)
    value.sum().backward()
    return value.detach(), w.grad
