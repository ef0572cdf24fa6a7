"""Plain Python over lists."""

import math

import torch


def what_it_means(logits, targets):
    rows = []
    for row in logits.tolist():
        top = max(row)
        weights = [math.exp(z - top) for z in row]
        rows.append([w / sum(weights) for w in weights])
    classes = len(rows[0])
    loss = sum(-math.log(row[t]) for row, t in zip(rows, targets.tolist())) / len(rows)
    if abs(loss - math.log(classes)) > 0.01:
        return "elsewhere"
    if all(abs(p * classes - 1) <= 0.1 for row in rows for p in row):
        return "uniform"
    same = all(abs(p - q) <= 0.01 for row in rows for p, q in zip(row, rows[0]))
    return "same for all" if same else "by row"
