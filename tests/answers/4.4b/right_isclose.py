"""Style: one validation row after the other, isclose without a relative part."""

import torch


def leakage_audit(train, train_groups, val, val_groups, tolerance):
    found = {"groups": [], "pairs": []}
    for j in range(val.shape[0]):
        hit = torch.isclose(train, val[j].expand_as(train), rtol=0.0, atol=tolerance).all(dim=1)
        found["pairs"].extend((int(i), j) for i in hit.nonzero())
    counted = {name: [name in train_groups, name in val_groups] for name in [*train_groups, *val_groups]}
    found["groups"] = [name for name, sides in counted.items() if all(sides)]
    return found
