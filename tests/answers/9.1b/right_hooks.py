"""Backward hooks on each value record what passes."""

import torch


def anomaly_report(values, ops):
    y = torch.tensor(values, requires_grad=True)
    passed = [y]
    y.register_hook(lambda g: passed.append(g))
    for op in ops:
        y = getattr(torch, op)(y)
        y.register_hook(lambda g: passed.append(g))
        passed.append(y)
    forward = len(passed)
    loss = y.sum()
    loss.backward()
    if any(bool(g.isnan().any()) for g in passed[forward:]):
        return "raises"
    if not loss.isfinite() or any(not bool(t.isfinite().all()) for t in passed):
        return "silent"
    return "finite"
