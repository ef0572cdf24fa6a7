"""Mistake: compares rows at the same position alone."""

import torch


def leakage_audit(train, train_groups, val, val_groups, tolerance):
    n = min(len(train), len(val))
    gap = torch.diag((train[:n] - val[:n]).abs().amax(1) - 9) + 9
    pairs = [tuple(p) for p in (gap <= tolerance).nonzero().tolist()]
    groups = sorted(set(train_groups) & set(val_groups))
    return {"groups": groups, "pairs": pairs}
