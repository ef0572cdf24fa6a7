"""Nested loops over Python numbers."""

import torch


def audit_pairs(batches, table):
    found = []
    for index, (ids, labels) in enumerate(batches):
        for i, label in zip(ids.tolist(), labels.tolist()):
            if i not in table or table[i] != label:
                found.append((index, i))
    return found
