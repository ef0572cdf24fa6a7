"""Python lists where tensors are asked."""

import torch


def counterexamples(x, y, classes):
    rows = [tuple(r) for r in x.tolist()]
    z = [(v + 1) % classes for v in y.tolist()]
    for i, row in enumerate(rows):
        if row in rows[:i]:
            w = list(y.tolist())
            w[i] = (w[i] + 1) % classes
            return z, w
    return z, None
