"""Mistake: isclose with its default relative part, large for large numbers, and a fixed tolerance."""

import torch


def leakage_audit(train, train_groups, val, val_groups, tolerance):
    close = torch.isclose(train[:, None, :], val[None, :, :], atol=tolerance, rtol=1e-2).all(2)
    pairs = [tuple(p) for p in (close).nonzero().tolist()]
    groups = sorted(set(train_groups) & set(val_groups))
    return {"groups": groups, "pairs": pairs}
