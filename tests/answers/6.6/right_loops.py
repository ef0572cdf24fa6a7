"""Style: loops over rows and positions, plain numbers."""

import math


def audit(batch, spec, reference):
    found = set()
    for value in batch["x"].flatten().tolist():
        if math.isnan(value):
            found.add("nan")
    if list(batch["x"].size()[1:]) != list(spec["shape"]):
        found.add("wrong shape")
    for name, row in zip(batch["ids"], batch["targets"].tolist()):
        scored = 0
        for target, truth in zip(row, reference[name]):
            if target == spec["ignore_index"]:
                continue
            scored += 1
            if target not in range(spec["classes"]):
                found.add("class out of range")
            elif target != truth:
                found.add("misaligned label")
        if scored == 0:
            found.add("all targets masked")
    return sorted(found)
