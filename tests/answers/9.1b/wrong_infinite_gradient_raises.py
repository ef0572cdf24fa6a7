"""Believes that an infinite gradient raises, too."""

import torch


def anomaly_report(values, ops):
    x = torch.tensor(values, requires_grad=True)
    y, bad = x, False
    for op in ops:
        y = getattr(torch, op)(y)
        bad |= not bool(y.isfinite().all())
    y.sum().backward()
    if not x.grad.isfinite().all():
        return "raises"
    return "silent" if bad else "finite"
