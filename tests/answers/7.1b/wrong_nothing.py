"""Names nobody."""

import torch


def audit_pairs(batches, table):
    return []
