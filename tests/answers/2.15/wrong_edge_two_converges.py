"""Mistake: counts the edge eta * a = 2 as converging."""


def fate(a, eta):
    factor = 1 - eta * a
    if factor == 1:
        return "stay"
    if factor == -1:
        return "converge"
    return "converge" if abs(factor) < 1 else "diverge"
