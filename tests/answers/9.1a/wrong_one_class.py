"""All labels the same: easy to memorize, true where the class is that one."""

import torch


def counterexamples(x, y, classes):
    rows = [tuple(r) for r in x.tolist()]
    for i, row in enumerate(rows):
        if row in rows[:i]:
            w = torch.zeros_like(y)
            w[i] = 1
            return torch.zeros_like(y), w
    return torch.zeros_like(y), None
