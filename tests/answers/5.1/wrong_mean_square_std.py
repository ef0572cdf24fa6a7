"""Mean of squares less square of mean: cancels."""

import math

import torch


def _finite(t):
    flat = t.detach().double().reshape(-1)
    return flat[torch.isfinite(flat)]


def _norm(t):
    return _finite(t).square().sum().sqrt().item()


def tensor_stats(tensor, previous=None):
    values = _finite(tensor)
    n = tensor.numel()
    update = math.nan
    if previous is not None:
        moved, size = _norm(tensor.double() - previous.double()), _norm(previous)
        update = moved / size if size else (math.inf if moved else 0.0)
    return {
        "mean": values.mean().item(),
        "std": max((values.square().mean() - values.mean() ** 2).item(), 0.0) ** 0.5
        if len(values)
        else math.nan,
        "finite": len(values) / n if n else math.nan,
        "zero": (tensor == 0).sum().item() / n if n else math.nan,
        "norm": _norm(tensor),
        "relative_update": update,
    }
