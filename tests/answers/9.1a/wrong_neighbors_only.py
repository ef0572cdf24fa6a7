"""Looks for equal inputs in neighboring rows only."""

import torch


def counterexamples(x, y, classes):
    for i in range(1, len(x)):
        if torch.equal(x[i], x[i - 1]):
            w = y.clone()
            w[i] = (w[i] + 1) % classes
            return (y + 1) % classes, w
    return (y + 1) % classes, None
