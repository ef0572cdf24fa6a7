"""Style: torch.unique, cumulative sums over a random order."""

import torch


def group_split(groups, fraction):
    order = {name: k for k, name in enumerate(dict.fromkeys(groups))}
    index = torch.tensor([order[name] for name in groups])
    _, counts = torch.unique(index, return_counts=True)
    perm = torch.randperm(len(counts), generator=torch.Generator().manual_seed(3))
    total = counts[perm].cumsum(0).double()
    cut = int((total[:-1] - fraction * len(groups)).abs().argmin()) + 1
    in_val = torch.isin(index, perm[:cut])
    return (~in_val).nonzero().flatten().tolist(), in_val.nonzero().flatten().tolist()
