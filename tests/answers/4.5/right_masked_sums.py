"""Style: counts and masked sums, the mean taken off before squaring."""

import torch


def fit_scaler(rows, is_train):
    used = is_train[:, None] & ~rows.isnan()
    x = torch.where(used, rows, torch.zeros_like(rows)).double()
    n = used.sum(0)
    mean = x.sum(0) / n.clamp(min=1)
    residual = torch.where(used, x - mean, torch.zeros((), dtype=torch.float64))
    std = (residual.square().sum(0) / n.clamp(min=1)).sqrt()
    std[std == 0] = 1.0
    return mean, std
