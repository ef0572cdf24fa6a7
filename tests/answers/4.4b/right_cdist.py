"""Style: cdist with the maximum norm."""

import torch


def leakage_audit(train, train_groups, val, val_groups, tolerance):
    close = torch.cdist(train, val, p=float("inf")) <= tolerance
    rows, cols = torch.where(close)
    return {
        "groups": list(set(train_groups).intersection(val_groups)),
        "pairs": list(zip(rows.tolist(), cols.tolist())),
    }
