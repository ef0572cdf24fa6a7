"""Mistake: shuffles rows."""

import random


def group_split(groups, fraction):
    order = list(range(len(groups)))
    random.Random(0).shuffle(order)
    cut = max(1, round(fraction * len(groups)))
    return order[cut:], order[:cut]
