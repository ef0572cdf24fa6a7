"""Mistake: one mean and one std for all columns."""

import torch


def fit_scaler(rows, is_train):
    x = rows[is_train].double()
    mean = x.nanmean().expand(4)
    std = (x - mean).square().nanmean().expand(4).sqrt()
    mean = mean.nan_to_num(0.0)
    std = torch.where(std.isnan() | (std == 0), 1.0, std)
    return mean, std
