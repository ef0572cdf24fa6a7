"""numpy.unique and a loop over the groups."""

import numpy as np


def loss_floor(x, y, num_classes, label_smoothing):
    rows, labels = x.numpy().reshape(len(x), -1), y.numpy()
    unique, inverse = np.unique(rows, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    total = 0.0
    for g in range(len(unique)):
        mine = labels[inverse == g]
        p = np.bincount(mine, minlength=num_classes) / len(mine)
        p = (1 - label_smoothing) * p + label_smoothing / num_classes
        p = p[p > 0]
        total -= len(mine) * (p * np.log(p)).sum()
    return float(total / len(labels))
