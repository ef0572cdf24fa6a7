"""torch.var_mean and nested functions."""

import math

import torch


def tensor_stats(tensor, previous=None):
    def ratio(count):
        return float(count) / tensor.numel() if tensor.numel() > 0 else math.nan

    def keep(t):
        t = t.detach().type(torch.double)
        return t[~(t.isnan() | t.isinf())]

    def length(t):
        return float(torch.dot(keep(t), keep(t))) ** 0.5

    good = keep(tensor)
    if good.numel():
        var, mean = (float(v) for v in torch.var_mean(good, correction=0))
    else:
        var = mean = math.nan
    relative = math.nan
    if previous is not None:
        top, bottom = length(tensor.type(torch.double) - previous.type(torch.double)), length(previous)
        if bottom == 0.0:
            relative = 0.0 if top == 0.0 else math.inf
        else:
            relative = top / bottom
    return dict(
        mean=mean,
        std=var**0.5,
        finite=ratio(good.numel()),
        zero=ratio(tensor.numel() - torch.count_nonzero(tensor.detach())),
        norm=length(tensor),
        relative_update=relative,
    )
