"""Expected labels as a tensor, compared at once."""

import torch


def audit_pairs(batches, table):
    wrong = []
    for index, (ids, labels) in enumerate(batches):
        expected = torch.tensor([table.get(i, -1) for i in ids.tolist()], dtype=torch.int64)
        off = expected != labels.long()
        wrong += [(index, i) for i in ids[off].tolist()]
    return wrong
