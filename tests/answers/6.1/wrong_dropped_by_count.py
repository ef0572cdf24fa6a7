"""Mistake: the number of dropped rows instead of their ids."""

from collections import Counter


def trace_ids(stages):
    reports = []
    for before, after in zip(stages, stages[1:]):
        n_old, n_new = Counter(before["ids"]), Counter(after["ids"])
        old, new = dict(zip(before["ids"], before["targets"])), dict(zip(after["ids"], after["targets"]))
        kept_old = [i for i in old if i in new]
        kept_new = [i for i in new if i in old]
        reports.append(
            {
                "dropped": len(before["ids"]) - len(after["ids"]),
                "added": sorted(i for i in new if i not in old),
                "duplicated": sorted(i for i in old if n_new[i] > n_old[i]),
                "reordered": kept_old != kept_new,
                "retargeted": sorted(i for i in kept_old if old[i] != new[i]),
            }
        )
    return reports
