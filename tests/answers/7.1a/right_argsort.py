"""Sorts positions by random keys."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    g = torch.Generator()
    g.manual_seed(seed)
    keys = torch.rand(ids.numel(), generator=g, dtype=torch.float64)
    order = keys.argsort()
    return (
        inputs.index_select(0, order),
        labels.index_select(0, order),
        ids.index_select(0, order),
    )
