"""A dictionary from the bytes of an input to the labels that it has been given."""

import torch


def counterexamples(x, y, classes):
    memorized = torch.where(y == classes - 1, torch.zeros_like(y), y + 1)
    seen, clash = {}, y.clone()
    found = False
    for i, row in enumerate(x):
        key = row.numpy().tobytes()
        if key in seen and not found:
            clash[i] = 0 if seen[key] != 0 else 1
            found = True
        seen.setdefault(key, int(y[i]))
    return memorized, clash if found else None
