"""Calls mean and std on the tensor as it is."""

import math

import torch


def tensor_stats(tensor, previous=None):
    return {
        "mean": tensor.mean().item(),
        "std": tensor.std().item(),
        "finite": torch.isfinite(tensor).float().mean().item(),
        "zero": (tensor == 0).float().mean().item(),
        "norm": tensor.norm().item(),
        "relative_update": ((tensor - previous).norm() / previous.norm()).item()
        if previous is not None
        else math.nan,
    }
