"""Mistake: a rate of 0 converges."""


def fate(a, eta):
    factor = 1 - eta * a
    if factor == 1:
        return "converge"
    if factor == -1:
        return "oscillate"
    return "converge" if abs(factor) < 1 else "diverge"
