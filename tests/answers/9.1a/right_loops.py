"""Plain loops and lists."""

import torch


def counterexamples(x, y, classes):
    memorized = torch.tensor([(label - 1) % classes for label in y.tolist()])
    rows = x.tolist()
    for i in range(len(rows)):
        for j in range(i):
            if rows[i] == rows[j]:
                labels = [0] * len(rows)
                labels[i] = 1
                return memorized, torch.tensor(labels)
    return memorized, None
