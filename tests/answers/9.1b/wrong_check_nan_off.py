"""Turns the check for nan off."""

import warnings

import torch


def anomaly_report(values, ops):
    steps = [torch.tensor(values, requires_grad=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with torch.autograd.detect_anomaly(check_nan=False):
                for op in ops:
                    steps.append(getattr(torch, op)(steps[-1]))
                    steps[-1].retain_grad()
                steps[-1].sum().backward()
        except RuntimeError:
            return "raises"
    seen = [*steps, *(s.grad for s in steps)]
    return "finite" if all(torch.isfinite(t).all() for t in seen) else "silent"
