"""Mistake: returns group names instead of rows."""


def group_split(groups, fraction):
    names = sorted(set(groups))
    cut = max(1, round(fraction * len(names)))
    return names[cut:], names[:cut]
