"""Style: random order, a group is added while that brings the share closer."""

import random


def group_split(groups, fraction):
    rows = {}
    for i, name in enumerate(groups):
        rows.setdefault(name, []).append(i)
    names = sorted(rows)
    random.Random(0).shuffle(names)
    wanted = fraction * len(groups)
    val = []
    for name in names:
        if abs(len(val) + len(rows[name]) - wanted) < abs(len(val) - wanted):
            val += rows[name]
    if not val:
        val = list(rows[min(names, key=lambda n: len(rows[n]))])
    chosen = set(val)
    return [i for i in range(len(groups)) if i not in chosen], sorted(val)
