"""Mistake: an epsilon is added to every std."""

import torch


def fit_scaler(rows, is_train):
    x = rows[is_train].double()
    mean = x.nanmean(0)
    std = (x - mean).square().nanmean(0).sqrt()
    mean = mean.nan_to_num(0.0)
    std = std.nan_to_num(1.0) + 1e-8
    std = torch.where(std < 1e-7, 1.0, std)
    return mean, std
