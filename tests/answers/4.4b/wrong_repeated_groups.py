"""Mistake: a name once for each of its rows."""

import torch


def leakage_audit(train, train_groups, val, val_groups, tolerance):
    gap = (train[:, None, :] - val[None, :, :]).abs().amax(2)
    pairs = [tuple(p) for p in (gap <= tolerance).nonzero().tolist()]
    groups = [g for g in train_groups if g in val_groups]
    return {"groups": groups, "pairs": pairs}
