"""Style: derivatives by hand, no autograd."""

import torch


def masked_op(op, w, features, valid):
    rows = features[valid]
    x = rows @ w
    y, slope = {
        "sqrt": lambda: (x.sqrt(), 0.5 / x.sqrt()),
        "log": lambda: (x.log(), 1 / x),
        "reciprocal": lambda: (1 / x, -1 / x**2),
        "rsqrt": lambda: (x**-0.5, -0.5 * x**-1.5),
        "acos": lambda: (x.acos(), -1 / (1 - x**2).sqrt()),
        "asin": lambda: (x.asin(), 1 / (1 - x**2).sqrt()),
        "power": lambda: (x**0.3, 0.3 * x**-0.7),
    }[op]()
    value = torch.zeros(len(features))
    value[valid] = y
    return value, (slope[:, None] * rows).sum(0)
