"""Mistake: trusts anomaly mode to find everything."""

import torch


def first_nonfinite(model, loss_fn, optimizer, x, y):
    try:
        with torch.autograd.detect_anomaly():
            loss_fn(model(x), y).backward()
        optimizer.step()
    except RuntimeError:
        return {"boundary": "gradient", "name": ""}
    return {"boundary": "none", "name": ""}
