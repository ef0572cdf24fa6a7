"""classes - 1 - y: the middle class keeps its name."""

import torch


def counterexamples(x, y, classes):
    rows = [tuple(r) for r in x.tolist()]
    for i, row in enumerate(rows):
        if row in rows[:i]:
            w = y.clone()
            w[i] = (w[i] + 1) % classes
            return classes - 1 - y, w
    return classes - 1 - y, None
