"""Mistake: compares each stage with the raw examples."""

from collections import Counter


def trace_ids(stages):
    reports = []
    for before, after in ((stages[0], s) for s in stages[1:]):
        n_old, n_new = Counter(before["ids"]), Counter(after["ids"])
        old, new = dict(zip(before["ids"], before["targets"])), dict(zip(after["ids"], after["targets"]))
        kept_old = [i for i in old if i in new]
        kept_new = [i for i in new if i in old]
        reports.append(
            {
                "dropped": sorted(i for i in old if i not in new),
                "added": sorted(i for i in new if i not in old),
                "duplicated": sorted(i for i in old if n_new[i] > n_old[i]),
                "reordered": kept_old != kept_new,
                "retargeted": sorted(i for i in kept_old if old[i] != new[i]),
            }
        )
    return reports
