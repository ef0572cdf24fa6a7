"""Plain Python lists and loops."""

import math


def _entries(t):
    return [float(v) for v in t.detach().reshape(-1).tolist()]


def _size(values):
    return math.sqrt(sum(v * v for v in values if math.isfinite(v)))


def tensor_stats(tensor, previous=None):
    every = _entries(tensor)
    good = [v for v in every if math.isfinite(v)]
    out = dict.fromkeys(("mean", "std", "finite", "zero", "norm", "relative_update"), math.nan)
    out["norm"] = _size(good)
    if every:
        out["finite"] = len(good) / len(every)
        out["zero"] = sum(1 for v in every if v == 0) / len(every)
    if good:
        mean = sum(good) / len(good)
        out["mean"] = mean
        out["std"] = math.sqrt(sum((v - mean) ** 2 for v in good) / len(good))
    if previous is not None:
        before = _entries(previous)
        moved = _size([a - b for a, b in zip(every, before)])
        size = _size(before)
        if size > 0:
            out["relative_update"] = moved / size
        else:
            out["relative_update"] = math.inf if moved > 0 else 0.0
    return out
