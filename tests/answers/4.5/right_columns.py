"""Style: column by column in float64."""

import torch


def fit_scaler(rows, is_train):
    means, stds = [], []
    for column in rows[is_train].double().unbind(1):
        values = column[~torch.isnan(column)]
        if len(values) == 0:
            means.append(0.0)
            stds.append(1.0)
            continue
        means.append(values.mean().item())
        std = values.std(correction=0).item()
        stds.append(std if values.min() != values.max() else 1.0)
    return torch.tensor(means, dtype=torch.float64), torch.tensor(stds, dtype=torch.float64)
