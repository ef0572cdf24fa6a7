"""One comprehension with dict.get."""

import torch


def audit_pairs(batches, table):
    return [
        (index, int(i))
        for index, (ids, labels) in enumerate(batches)
        for i, label in zip(ids, labels)
        if table.get(int(i)) != int(label)
    ]
