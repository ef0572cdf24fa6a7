"""Style: two loops, plain Python numbers."""


def leakage_audit(train, train_groups, val, val_groups, tolerance):
    pairs = []
    for i, a in enumerate(train.tolist()):
        for j, b in enumerate(val.tolist()):
            if all(abs(x - y) <= tolerance for x, y in zip(a, b)):
                pairs.append((i, j))
    groups = []
    for name in train_groups:
        if name in val_groups and name not in groups:
            groups.append(name)
    return {"groups": groups, "pairs": pairs}
