"""Style: all differences at once."""

import torch


def leakage_audit(train, train_groups, val, val_groups, tolerance):
    gap = (train[:, None, :] - val[None, :, :]).abs().max(dim=2).values
    pairs = [tuple(p) for p in (gap <= tolerance).nonzero().tolist()]
    return {"groups": sorted(set(train_groups) & set(val_groups)), "pairs": pairs}
