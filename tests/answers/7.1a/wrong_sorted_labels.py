"""Indexes the labels with the sorted order."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(seed))
    return inputs[order], labels[order.sort().values], ids[order]
