"""Looks at the loss alone: nan raises, inf is silent."""

import torch


def anomaly_report(values, ops):
    y = torch.tensor(values)
    for op in ops:
        y = getattr(torch, op)(y)
    loss = y.sum()
    return "raises" if loss.isnan() else "silent" if loss.isinf() else "finite"
