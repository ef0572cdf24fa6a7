"""Believes that anomaly mode raises on every nonfinite number."""

import torch


def anomaly_report(values, ops):
    x = torch.tensor(values, requires_grad=True)
    y = x
    bad = False
    for op in ops:
        y = getattr(torch, op)(y)
        bad |= not bool(y.isfinite().all())
    y.sum().backward()
    return "raises" if bad or not x.grad.isfinite().all() else "finite"
