"""Mistake: always one group for validation."""


def group_split(groups, fraction):
    name = sorted(set(groups))[0]
    return [i for i, g in enumerate(groups) if g != name], [i for i, g in enumerate(groups) if g == name]
