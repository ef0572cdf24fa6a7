"""Mistake: a constant answer."""


def fate(a, eta):
    return "converge"
