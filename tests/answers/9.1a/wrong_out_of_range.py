"""Labels one past the last class."""

import torch


def counterexamples(x, y, classes):
    rows = [tuple(r) for r in x.tolist()]
    for i, row in enumerate(rows):
        if row in rows[:i]:
            w = y.clone()
            w[i] += 1
            return y + 1, w
    return y + 1, None
