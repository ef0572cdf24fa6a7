"""Style: the product against its edges."""


def fate(a, eta):
    product = eta * a
    if product == 0:
        return "stay"
    if 0 < product < 2:
        return "converge"
    return "oscillate" if product == 2 else "diverge"
