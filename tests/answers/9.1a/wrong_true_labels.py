"""Hands back the true labels: memorized, but no counterexample."""

import torch


def counterexamples(x, y, classes):
    rows = [tuple(r) for r in x.tolist()]
    for i, row in enumerate(rows):
        if row in rows[:i]:
            z = y.clone()
            z[i] = (z[i] + 1) % classes
            return y, z
    return y, None
