"""Mistake: a group that does not fit ends the search, so validation may stay empty."""


def group_split(groups, fraction):
    val = []
    for name in sorted(set(groups), key=lambda n: -groups.count(n)):
        rows = [i for i, g in enumerate(groups) if g == name]
        if len(val) + len(rows) > fraction * len(groups):
            break
        val += rows
    return [i for i in range(len(groups)) if i not in set(val)], val
