"""Style: numpy argwhere."""

import numpy as np


def leakage_audit(train, train_groups, val, val_groups, tolerance):
    a, b = train.numpy().astype(np.float64), val.numpy().astype(np.float64)
    close = (np.abs(a[:, None] - b) <= tolerance).all(axis=-1)
    return {
        "groups": np.intersect1d(train_groups, val_groups).tolist(),
        "pairs": [(int(i), int(j)) for i, j in np.argwhere(close)],
    }
