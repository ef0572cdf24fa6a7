"""Through numpy, numbers converted at the end."""

import numpy as np
import torch


def _array(t):
    return t.detach().to(torch.float64).numpy().ravel()


def _norm(a):
    return float(np.sqrt((a[np.isfinite(a)] ** 2).sum()))


def tensor_stats(tensor, previous=None):
    a = _array(tensor)
    good = a[np.isfinite(a)]
    stats = {
        "mean": good.mean() if good.size else np.nan,
        "std": good.std() if good.size else np.nan,
        "finite": np.isfinite(a).mean() if a.size else np.nan,
        "zero": (a == 0).mean() if a.size else np.nan,
        "norm": _norm(good),
        "relative_update": np.nan,
    }
    if previous is not None:
        b = _array(previous)
        with np.errstate(invalid="ignore"):
            moved = _norm(a - b)
        size = _norm(b)
        stats["relative_update"] = moved / size if size else (np.inf if moved else 0.0)
    return {key: float(value) for key, value in stats.items()}
