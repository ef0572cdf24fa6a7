"""A random derangement of the class names as a lookup table; torch.unique finds equal rows."""

import torch


def counterexamples(x, y, classes):
    names = torch.randperm(classes)
    while (names == torch.arange(classes)).any():
        names = torch.randperm(classes)
    _, group, count = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
    if count.max() == 1:
        return names[y], None
    twins = (group == count.argmax()).nonzero().flatten()
    impossible = torch.zeros_like(y)
    impossible[twins[0]] = 1
    return names[y], impossible
