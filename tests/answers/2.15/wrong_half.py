"""Mistake: takes a / 2 for the derivative's factor."""


def fate(a, eta):
    factor = 1 - eta * a / 2
    if factor == 1:
        return "stay"
    if factor == -1:
        return "oscillate"
    return "converge" if abs(factor) < 1 else "diverge"
