"""Mistake: the nearest training row of each validation row, near or not."""

import torch


def leakage_audit(train, train_groups, val, val_groups, tolerance):
    gap = (train[:, None, :] - val[None, :, :]).abs().amax(2)
    pairs = [(int(i), j) for j, i in enumerate(gap.argmin(0))]
    groups = sorted(set(train_groups) & set(val_groups))
    return {"groups": groups, "pairs": pairs}
