"""Style: one pass with running updates, plain Python floats."""

import math

import torch


def fit_scaler(rows, is_train):
    means, stds = [], []
    for c in range(rows.shape[1]):
        n, mean, m2 = 0, 0.0, 0.0
        for value, used in zip(rows[:, c].tolist(), is_train.tolist()):
            if not used or math.isnan(value):
                continue
            n += 1
            delta = value - mean
            mean += delta / n
            m2 += delta * (value - mean)
        means.append(mean)
        stds.append(math.sqrt(m2 / n) if n and m2 > 0 else 1.0)
    return torch.tensor(means, dtype=torch.double), torch.tensor(stds, dtype=torch.double)
