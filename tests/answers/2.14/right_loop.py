"""Style: a loop over rows that skips the invalid ones."""

import torch


def masked_op(op, w, features, valid):
    w = w.detach().requires_grad_()
    f = (lambda t: t**0.3) if op == "power" else getattr(torch, op)
    rows = []
    for row, ok in zip(features, valid):
        rows.append(f(torch.dot(row, w)) if ok else 0 * w.sum())
    value = torch.stack(rows)
    value.sum().backward()
    return value.detach(), w.grad
