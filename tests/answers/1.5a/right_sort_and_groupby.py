"""Sorts the examples so that equal inputs are neighbors, then itertools.groupby."""

from collections import Counter
from itertools import groupby
from math import log


def loss_floor(x, y, num_classes, label_smoothing):
    def entropy(labels):
        seen, n = Counter(labels), len(labels)
        p = [(1 - label_smoothing) * seen[k] / n + label_smoothing / num_classes for k in range(num_classes)]
        return -sum(q * log(q) for q in p if q)

    pairs = sorted(zip(x.flatten().view(len(x), -1).tolist(), y.tolist()), key=lambda pair: pair[0])
    groups = [[label for _, label in group] for _, group in groupby(pairs, key=lambda pair: pair[0])]
    return float(sum(len(g) * entropy(g) for g in groups) / len(y))
