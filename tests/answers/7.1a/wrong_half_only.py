"""Shuffles the first half alone."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    half = len(ids) // 2
    order = torch.cat(
        [torch.randperm(half, generator=torch.Generator().manual_seed(seed)), torch.arange(half, len(ids))]
    )
    return inputs[order], labels[order], ids[order]
