"""Believes that a nan in the forward pass raises."""

import torch


def anomaly_report(values, ops):
    x = torch.tensor(values, requires_grad=True)
    y, bad, nan = x, False, False
    for op in ops:
        y = getattr(torch, op)(y)
        nan |= bool(y.isnan().any())
        bad |= not bool(y.isfinite().all())
    y.sum().backward()
    if nan or x.grad.isnan().any():
        return "raises"
    return "silent" if bad or not x.grad.isfinite().all() else "finite"
