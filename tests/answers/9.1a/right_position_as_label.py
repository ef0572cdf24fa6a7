"""Labels by position modulo two where two rows are equal, moved to an odd distance."""

import torch


def counterexamples(x, y, classes):
    swapped = y.roll(0)
    swapped = torch.remainder(swapped + classes - 1, classes)
    twin = None
    for i in range(len(x) - 1):
        gap = (x[i + 1 :] - x[i]).abs().sum(1)
        if (gap == 0).any():
            twin = i
            break
    if twin is None:
        return swapped, None
    return swapped, (torch.arange(len(x)) == twin).long()
