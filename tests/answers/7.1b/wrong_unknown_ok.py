"""Skips ids that the table does not have."""

import torch


def audit_pairs(batches, table):
    return [
        (n, i)
        for n, (ids, labels) in enumerate(batches)
        for i, y in zip(ids.tolist(), labels.tolist())
        if i in table and table[i] != y
    ]
