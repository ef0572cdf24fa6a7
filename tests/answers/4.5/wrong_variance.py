"""Mistake: the variance, not its root."""

import torch


def fit_scaler(rows, is_train):
    x = rows[is_train].double()
    mean = x.nanmean(0)
    std = (x - mean).square().nanmean(0)
    mean = mean.nan_to_num(0.0)
    std = torch.where(std.isnan() | (std == 0), 1.0, std)
    return mean, std
