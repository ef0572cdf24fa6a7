"""Mistake: compares the beginnings of names, so p1 takes p10 along on one side only."""


def group_split(groups, fraction):
    wanted, val = fraction * len(groups), []
    for name in sorted(set(groups)):
        if len(val) < wanted:
            val += [i for i, g in enumerate(groups) if g.startswith(name)]
    return [i for i in range(len(groups)) if i not in set(val)], val
