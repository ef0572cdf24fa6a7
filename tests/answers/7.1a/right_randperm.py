"""One generator, one permutation, three times indexed."""

import torch


def joint_shuffle(inputs, labels, ids, seed):
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(ids), generator=generator)
    return inputs[order], labels[order], ids[order]
