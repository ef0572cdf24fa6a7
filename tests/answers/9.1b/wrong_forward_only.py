"""Runs the forward pass alone under the tool."""

import warnings

import torch


def anomaly_report(values, ops):
    y = torch.tensor(values, requires_grad=True)
    bad = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            for op in ops:
                y = getattr(torch, op)(y)
                bad |= not bool(y.isfinite().all())
    try:
        y.sum().backward()
    except RuntimeError:
        return "raises"
    return "silent" if bad else "finite"
