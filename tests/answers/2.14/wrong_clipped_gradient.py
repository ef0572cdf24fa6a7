"""Mistake: clips the gradient and returns it."""

import torch


def masked_op(op, w, features, valid):
    w = w.detach().requires_grad_()
    x = features @ w
    f = (lambda t: t**0.3) if op == "power" else getattr(torch, op)
    safe = x
    value = torch.where(valid, f(safe), 0.0)
    value.sum().backward()
    torch.nn.utils.clip_grad_norm_([w], 1.0)
    return value.detach(), w.grad
