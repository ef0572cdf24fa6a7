"""Takes any other order for a broken pairing."""

import torch


def audit_pairs(batches, table):
    keys = iter(table)
    return [(n, i) for n, (ids, labels) in enumerate(batches) for i in ids.tolist() if i != next(keys)]
