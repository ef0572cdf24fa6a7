"""Mistake: keeps the first row of each group only."""


def group_split(groups, fraction):
    rows = [groups.index(name) for name in dict.fromkeys(groups)]
    cut = max(1, round(fraction * len(rows)))
    return rows[cut:], rows[:cut]
