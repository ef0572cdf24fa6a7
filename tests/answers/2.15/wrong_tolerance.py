"""Mistake: a tolerance that swallows the neighborhood of the edge."""


def fate(a, eta):
    factor = 1 - eta * a
    if abs(factor - 1) < 1e-3:
        return "stay"
    if abs(factor + 1) < 1e-3:
        return "oscillate"
    return "converge" if abs(factor) < 1 else "diverge"
