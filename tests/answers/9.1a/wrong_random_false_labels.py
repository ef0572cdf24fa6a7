"""Each label false by a random shift: no true one left, but no longer separable."""

import torch


def counterexamples(x, y, classes):
    z = (y + torch.randint(1, max(2, classes), y.shape)) % classes
    rows = [tuple(r) for r in x.tolist()]
    for i, row in enumerate(rows):
        if row in rows[:i]:
            w = y.clone()
            w[i] = (w[i] + 1) % classes
            return z, w
    return z, None
