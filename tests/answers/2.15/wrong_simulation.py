"""Mistake: simulates a hundred steps and looks at the last number."""


def fate(a, eta):
    w = 1.0
    for _ in range(100):
        w = w - eta * a * w
    if abs(w) < 1e-3:
        return "converge"
    if abs(w) > 1e3:
        return "diverge"
    return "stay" if w > 0 else "oscillate"
