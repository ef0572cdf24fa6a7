"""Mistake: computes the valid part without a graph."""

import torch


def masked_op(op, w, features, valid):
    w = w.detach().requires_grad_()
    x = features @ w
    f = (lambda t: t**0.3) if op == "power" else getattr(torch, op)
    safe = torch.where(valid, x, 0.5)
    with torch.no_grad():
        value = torch.where(valid, f(safe), 0.0)
    return value, torch.zeros_like(w)
