"""Changes the labels of all equal inputs alike, so nothing contradicts."""

import torch


def counterexamples(x, y, classes):
    _, group, count = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
    if count.max() == 1:
        return (y + 1) % classes, None
    w = y.clone()
    w[group == count.argmax()] += 1
    return (y + 1) % classes, w % classes
