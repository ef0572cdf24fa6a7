"""Mistake: cuts the last group in two to meet the share exactly."""


def group_split(groups, fraction):
    order = sorted(range(len(groups)), key=lambda i: groups[i])
    cut = max(1, round(fraction * len(groups)))
    return order[cut:], order[:cut]
