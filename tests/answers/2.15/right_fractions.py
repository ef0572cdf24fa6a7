"""Style: exact rational arithmetic and a table."""

import math
from fractions import Fraction


def fate(a, eta):
    size = (1 - Fraction(eta) * Fraction(a)) ** 2
    edges = {(0, 0): "stay", (0, 1): "oscillate"}
    product = Fraction(eta) * Fraction(a)
    # two nearby floats may multiply to something beside 2 although 2 was meant
    on_edge = math.isclose(float(size), 1, rel_tol=0, abs_tol=1e-12)
    return edges[(0, int(product > 1))] if on_edge else ("converge" if size < 1 else "diverge")
