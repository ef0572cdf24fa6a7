"""Looks tensors up in the table: never found."""

import torch


def audit_pairs(batches, table):
    return [
        (n, int(i))
        for n, (ids, labels) in enumerate(batches)
        for i, y in zip(ids, labels)
        if table.get(i) != y
    ]
