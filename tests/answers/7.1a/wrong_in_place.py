"""Writes the shuffled data into the caller's tensors."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(seed))
    for t in (inputs, labels, ids):
        t.copy_(t[order].clone())
    return inputs, labels, ids
