"""Mistake: other words than the four."""


def fate(a, eta):
    factor = 1 - eta * a
    if factor == 1:
        return "stay"
    if factor == -1:
        return "oscillate"
    return "converges" if abs(factor) < 1 else "diverge"
