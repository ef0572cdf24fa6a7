"""One generator, but an order for each tensor."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    g = torch.Generator().manual_seed(seed)
    return tuple(t[torch.randperm(len(t), generator=g)] for t in (inputs, labels, ids))
