"""Labels get an order of their own."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    g = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(ids), generator=g)
    return inputs[order], labels[torch.randperm(len(ids), generator=g)], ids[order]
