"""itertools and bisect: parents found from prefix maxima, sums by sorted groups."""
from bisect import bisect_left
from itertools import accumulate, groupby
from operator import itemgetter


def hot_spots(events):
    rows = [(e["ts"], e["ts"] + e["dur"], e["cat"], e["name"]) for e in events
            if e.get("ph") == "X" and (e["pid"], e["tid"]) == thread_of(events)]
    steps = sorted(r for r in rows if r[3].startswith("ProfilerStep#"))
    ops = sorted((r for r in rows if r[2] == "cpu_op"), key=lambda r: (r[0], -r[1]))
    own = [end - start for start, end, _, _ in ops]
    for i, (start, end, _, _) in enumerate(ops):
        for j in range(i - 1, -1, -1):
            if ops[j][1] >= end:
                own[j] -= end - start
                break
    pairs = sorted(zip((o[3] for o in ops), own))
    sums = [(sum(v for _, v in group), name) for name, group in groupby(pairs, itemgetter(0))]
    self_us, operator = max(sums)

    starts = [o[0] for o in ops]
    best = (0.0, None, 0.0)
    for low, high, _, _ in steps:
        inside = ops[bisect_left(starts, low):bisect_left(starts, high)]
        ends = list(accumulate([low] + [o[1] for o in inside], max))
        for end, start in zip(ends, [o[0] for o in inside] + [high]):
            best = max(best, (start - end, (start + end) / 2, (high - low) / 10), key=itemgetter(0))
    gap, middle, least = best
    if gap < least:
        return {"operator": operator, "self_us": self_us, "stall_us": 0.0, "during": None}
    names = [(r[1] - r[0], r[3]) for r in rows
             if r[2] == "user_annotation" and r not in steps and r[0] <= middle <= r[1]]
    return {"operator": operator, "self_us": self_us, "stall_us": gap, "during": min(names)[1] if names else None}


def thread_of(events):
    return next((e["pid"], e["tid"]) for e in events if e["name"].startswith("ProfilerStep#"))
