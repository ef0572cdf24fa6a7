"""Sorts what it found by id."""

import torch


def audit_pairs(batches, table):
    found = [
        (n, i)
        for n, (ids, labels) in enumerate(batches)
        for i, y in zip(ids.tolist(), labels.tolist())
        if table.get(i) != y
    ]
    return sorted(found, key=lambda pair: pair[1])
