"""Mistake: calls every alternating path an oscillation."""


def fate(a, eta):
    factor = 1 - eta * a
    if factor == 1:
        return "stay"
    if -1 <= factor < 0:
        return "oscillate"
    return "converge" if abs(factor) < 1 else "diverge"
