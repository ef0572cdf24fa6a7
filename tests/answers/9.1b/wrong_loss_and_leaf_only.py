"""Runs the tool, then looks at the loss and the leaf's gradient only."""

import warnings

import torch


def anomaly_report(values, ops):
    x = torch.tensor(values, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with torch.autograd.detect_anomaly():
                y = x
                for op in ops:
                    y = getattr(torch, op)(y)
                loss = y.sum()
                loss.backward()
        except RuntimeError:
            return "raises"
    return "finite" if loss.isfinite() and x.grad.isfinite().all() else "silent"
