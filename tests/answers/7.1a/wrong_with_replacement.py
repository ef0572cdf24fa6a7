"""Draws positions with replacement."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    order = torch.randint(len(ids), (len(ids),), generator=torch.Generator().manual_seed(seed))
    return inputs[order], labels[order], ids[order]
