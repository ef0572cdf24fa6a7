"""Arrays of starts and ends; each operator's parent is the shortest one that holds it."""
import numpy as np


def hot_spots(events):
    spans = [e for e in events if e["ph"] == "X" and e["cat"] in ("cpu_op", "user_annotation")]
    steps = [e for e in spans if e["name"].startswith("ProfilerStep#")]
    spans = [e for e in spans if e["tid"] == steps[0]["tid"] and e["pid"] == steps[0]["pid"]]
    ops = [e for e in spans if e["cat"] == "cpu_op"]
    names = np.array([e["name"] for e in ops])
    start = np.array([e["ts"] for e in ops])
    length = np.array([e["dur"] for e in ops])
    end = start + length

    own = length.copy()
    for i in range(len(ops)):
        outer = np.flatnonzero((start <= start[i]) & (end >= end[i]) & (length > length[i]))
        if outer.size:
            own[outer[np.argmin(length[outer])]] -= length[i]
    unique = sorted(set(names.tolist()))
    sums = [own[names == n].sum() for n in unique]
    winner = int(np.argmax(sums))

    found = []
    for s in steps:
        low, high = s["ts"], s["ts"] + s["dur"]
        pick = np.flatnonzero((start >= low) & (start < high))
        pick = pick[np.argsort(start[pick])]
        ends = np.concatenate([[low], np.maximum.accumulate(end[pick])])
        starts = np.concatenate([start[pick], [high]])
        gaps = starts - ends
        at = int(np.argmax(gaps))
        found.append((float(gaps[at]), float(ends[at]), s["dur"]))
    gap, begin, whole = max(found)
    during = None
    if gap < 0.1 * whole:
        gap = 0.0
    else:
        middle = begin + gap / 2
        notes = [e for e in spans if e["cat"] == "user_annotation" and e not in steps]
        notes = [e for e in notes if e["ts"] <= middle and middle <= e["ts"] + e["dur"]]
        if notes:
            during = max(notes, key=lambda e: e["ts"])["name"]
    return {"operator": unique[winner], "self_us": float(sums[winner]), "stall_us": gap, "during": during}
