"""Runs the chain under the tool, keeping every value and its gradient."""

import warnings

import torch


def anomaly_report(values, ops):
    steps = [torch.tensor(values, requires_grad=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with torch.autograd.detect_anomaly(check_nan=True):
                for op in ops:
                    steps.append(getattr(torch, op)(steps[-1]))
                    steps[-1].retain_grad()
                loss = steps[-1].sum()
                loss.backward()
        except RuntimeError:
            return "raises"
    seen = [loss, *steps, *(s.grad for s in steps)]
    return "finite" if all(torch.isfinite(t).all() for t in seen) else "silent"
