"""Renames the classes by one; compares all pairs of rows at once."""

import torch


def counterexamples(x, y, classes):
    same = (x[:, None, :] == x[None, :, :]).all(dim=2)
    pairs = torch.triu(same, diagonal=1).nonzero()
    impossible = None
    if len(pairs):
        impossible = y.clone()
        row = pairs[0, 1]
        impossible[row] = (y[row] + 1) % classes
    return (y + 1) % classes, impossible
