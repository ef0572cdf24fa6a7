"""torch.allclose takes inputs for equal that a net can tell apart."""

import torch


def counterexamples(x, y, classes):
    for i in range(len(x)):
        for j in range(i):
            if torch.allclose(x[i], x[j], atol=1e-2):
                w = y.clone()
                w[i] = (w[j] + 1) % classes
                return (y + 1) % classes, w
    return (y + 1) % classes, None
