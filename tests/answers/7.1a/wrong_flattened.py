"""Returns the inputs flattened."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(seed))
    return inputs[order].flatten(), labels[order], ids[order]
