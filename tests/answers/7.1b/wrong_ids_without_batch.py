"""Returns bare ids."""

import torch


def audit_pairs(batches, table):
    return [i for ids, labels in batches for i, y in zip(ids.tolist(), labels.tolist()) if table.get(i) != y]
