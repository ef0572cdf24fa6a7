"""Mistake: the union instead of the intersection."""

import torch


def leakage_audit(train, train_groups, val, val_groups, tolerance):
    gap = (train[:, None, :] - val[None, :, :]).abs().amax(2)
    pairs = [tuple(p) for p in (gap <= tolerance).nonzero().tolist()]
    groups = sorted(set(train_groups) | set(val_groups))
    return {"groups": groups, "pairs": pairs}
