"""All batches joined, then the batch found again by counting."""

import torch


def audit_pairs(batches, table):
    owner = [index for index, (ids, _) in enumerate(batches) for _ in range(len(ids))]
    ids = [v.item() for b in batches for v in b[0]]
    labels = [v.item() for b in batches for v in b[1]]
    missing = object()
    return list((index, i) for index, i, label in zip(owner, ids, labels) if table.get(i, missing) != label)
