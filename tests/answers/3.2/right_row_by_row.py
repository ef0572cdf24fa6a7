"""Closed form in loops: keep the target's probability at 1/C, or pair the rows where C is 2."""

import math

import torch


def nonuniform_logits(targets, classes):
    rows = len(targets)
    probabilities = torch.zeros(rows, classes, dtype=torch.float64)
    if classes > 2:
        for i, target in enumerate(targets.tolist()):
            others = [c for c in range(classes) if c != target]
            probabilities[i, target] = 1 / classes
            rest = 1 - 1 / classes
            for c in others[1:]:
                probabilities[i, c] = 0.2 * rest / (len(others) - 1)
            probabilities[i, others[0]] = rest - probabilities[i, others[1:]].sum()
        return probabilities.log()
    confident = rows // 2
    unsure = rows - confident
    q = 0.4
    p = math.exp((-rows * math.log(2) - unsure * math.log(q)) / confident)
    for i, target in enumerate(targets.tolist()):
        probabilities[i, target] = p if i < confident else q
        probabilities[i, 1 - target] = 1 - probabilities[i, target]
    return probabilities.log()
