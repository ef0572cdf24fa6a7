"""The same seed before each draw, so the draws agree."""

import torch


def _mixed(tensor, seed):
    generator = torch.Generator().manual_seed(seed)
    return tensor[torch.randperm(tensor.size(0), generator=generator)]


def joint_shuffle(inputs, labels, ids, seed):
    return _mixed(inputs, seed), _mixed(labels, seed), _mixed(ids, seed)
