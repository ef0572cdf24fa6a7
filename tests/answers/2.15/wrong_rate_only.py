"""Mistake: looks at the rate alone."""


def fate(a, eta):
    factor = 1 - eta
    if factor == 1:
        return "stay"
    if factor == -1:
        return "oscillate"
    return "converge" if abs(factor) < 1 else "diverge"
