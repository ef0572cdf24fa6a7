"""The chain rule in numpy float32, with the slope of each operation written out."""

import numpy as np
import torch

SLOPE = {
    "sqrt": lambda x, y, g: g / (2 * y),
    "exp": lambda x, y, g: g * y,
    "square": lambda x, y, g: g * 2 * x,
    "relu": lambda x, y, g: np.where(y > 0, g, np.float32(0)),
    "reciprocal": lambda x, y, g: -g * (y * y),
    "log": lambda x, y, g: g / x,
    "nan_to_num": lambda x, y, g: g * np.isfinite(x).astype(np.float32),
    "abs": lambda x, y, g: g * np.sign(x),
    "sigmoid": lambda x, y, g: g * (1 - y) * y,
}


def anomaly_report(values, ops):
    xs = [torch.tensor(values)]
    for op in ops:
        xs.append(getattr(torch, op)(xs[-1]))
    xs = [x.numpy() for x in xs]
    bad = not all(np.isfinite(x).all() for x in xs)
    g = np.ones_like(xs[-1])
    with np.errstate(all="ignore"):
        bad |= not np.isfinite(xs[-1].sum())
        for op, x, y in zip(reversed(ops), reversed(xs[:-1]), reversed(xs[1:])):
            g = SLOPE[op](x, y, g).astype(np.float32)
            if np.isnan(g).any():
                return "raises"
            bad |= not np.isfinite(g).all()
    return "silent" if bad else "finite"
