"""Plain Python: a dict from row to labels, math.log."""

import math


def loss_floor(x, y, num_classes, label_smoothing):
    labels_of = {}
    for row, label in zip(x.flatten(1).tolist() if x.dim() > 1 else x.tolist(), y.tolist()):
        labels_of.setdefault(repr(row).replace("-0.0", "0.0"), []).append(label)
    total = 0.0
    for labels in labels_of.values():
        for k in range(num_classes):
            p = (1 - label_smoothing) * labels.count(k) / len(labels) + label_smoothing / num_classes
            if p > 0:
                total += len(labels) * p * -math.log(p)
    return total / len(y)
