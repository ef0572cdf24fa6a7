"""Style: numpy, minimum and maximum of the scored targets."""

import numpy as np


def audit(batch, spec, reference):
    x, y = batch["x"].numpy(), batch["targets"].numpy()
    truth = np.array([reference[i] for i in batch["ids"]])
    faults = []
    if x.shape[1:] != tuple(spec["shape"]):
        faults.append("wrong shape")
    if np.isnan(x).sum():
        faults.append("nan")
    scored = y != spec["ignore_index"]
    if not scored.any(axis=1).all():
        faults.append("all targets masked")
    values = y[scored]
    if values.size and (values.min() < 0 or values.max() >= spec["classes"]):
        faults.append("class out of range")
    inside = scored & (y >= 0) & (y < spec["classes"])
    if (y[inside] != truth[inside]).any():
        faults.append("misaligned label")
    return faults
