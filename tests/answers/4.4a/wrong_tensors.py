"""Mistake: returns tensors of indices."""

import torch
from collections import Counter


def group_split(groups, fraction):
    chosen, size = set(), 0
    for name, count in sorted(Counter(groups).items(), key=lambda item: item[1]):
        if size and size + count > fraction * len(groups):
            break
        chosen.add(name)
        size += count
    mask = torch.tensor([name in chosen for name in groups])
    return (~mask).nonzero().flatten(), mask.nonzero().flatten()
