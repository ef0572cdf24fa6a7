"""Set membership of (id, label) pairs."""

import torch


def audit_pairs(batches, table):
    good = set(table.items())

    def bad_in(index):
        ids, labels = batches[index]
        for pair in zip(ids.numpy().tolist(), labels.numpy().tolist()):
            if pair not in good:
                yield index, pair[0]

    return [pair for index in range(len(batches)) for pair in bad_in(index)]
