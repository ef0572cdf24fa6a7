"""Style: a generator of faults, rules as functions."""

import torch


def rows_of(batch, reference):
    for name, row in zip(batch["ids"], batch["targets"]):
        yield row, torch.as_tensor(reference[name])


def faults(batch, spec, reference):
    low, high, ignore = 0, spec["classes"] - 1, spec["ignore_index"]
    if batch["x"].shape != (len(batch["ids"]), *spec["shape"]):
        yield "wrong shape"
    if not torch.equal(batch["x"], batch["x"]):
        yield "nan"
    if any(bool(row.eq(ignore).all()) for row, _ in rows_of(batch, reference)):
        yield "all targets masked"
    pairs = [
        (int(t), int(r)) for row, ref in rows_of(batch, reference) for t, r in zip(row, ref) if t != ignore
    ]
    if any(not low <= t <= high for t, _ in pairs):
        yield "class out of range"
    if any(low <= t <= high and t != r for t, r in pairs):
        yield "misaligned label"


def audit(batch, spec, reference):
    return list(faults(batch, spec, reference))
