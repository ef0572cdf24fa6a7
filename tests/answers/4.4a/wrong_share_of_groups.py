"""Mistake: counts the share in groups, taken in the order of their first row."""


def group_split(groups, fraction):
    names = list(dict.fromkeys(groups))
    chosen = set(names[: max(1, round(fraction * len(names)))])
    return (
        [i for i, g in enumerate(groups) if g not in chosen],
        [i for i, g in enumerate(groups) if g in chosen],
    )
