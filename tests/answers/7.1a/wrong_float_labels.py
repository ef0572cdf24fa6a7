"""Packs all into one float table and loses the dtypes."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(seed))
    return inputs[order], labels[order].float(), ids[order]
