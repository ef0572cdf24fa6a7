"""Takes random labels for impossible ones."""

import torch


def counterexamples(x, y, classes):
    return (y + 1) % classes, torch.randint(classes, y.shape)
