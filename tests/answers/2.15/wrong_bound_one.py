"""Mistake: the bound is 1 instead of 2."""


def fate(a, eta):
    factor = 1 - 2 * eta * a
    if factor == 1:
        return "stay"
    if factor == -1:
        return "oscillate"
    return "converge" if abs(factor) < 1 else "diverge"
