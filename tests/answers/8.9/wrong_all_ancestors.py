"""Subtracts a call from every operator around it, not only from the one directly around it."""
from collections import defaultdict


def hot_spots(events):
    spans = [e for e in events if e["ph"] == "X"]
    steps = [e for e in spans if e["name"].startswith("ProfilerStep#")]
    mine = [e for e in spans if (e["pid"], e["tid"]) == (steps[0]["pid"], steps[0]["tid"])]
    ops = sorted((e for e in mine if e["cat"] == "cpu_op"), key=lambda e: (e["ts"], -e["dur"]))
    notes = [e for e in mine if e["cat"] == "user_annotation" and not e["name"].startswith("ProfilerStep#")]

    own, open_ops = defaultdict(float), []
    for op in ops:
        while open_ops and open_ops[-1]["ts"] + open_ops[-1]["dur"] <= op["ts"]:
            open_ops.pop()
        own[op["name"]] += op["dur"]
        for outer in open_ops:
            own[outer["name"]] -= op["dur"]
        open_ops.append(op)
    name = max(own, key=own.get)

    best = (0.0, 0.0, 1.0)
    for step in steps:
        end = step["ts"] + step["dur"]
        latest = step["ts"]
        for op in ops:
            if not step["ts"] <= op["ts"] < end:
                continue
            best = max(best, (op["ts"] - latest, latest, step["dur"]))
            latest = max(latest, op["ts"] + op["dur"])
        best = max(best, (end - latest, latest, step["dur"]))
    gap, start, whole = best
    if gap < whole / 10:
        return {"operator": name, "self_us": own[name], "stall_us": 0.0, "during": None}
    middle = start + gap / 2
    around = [n for n in notes if n["ts"] <= middle <= n["ts"] + n["dur"]]
    during = min(around, key=lambda n: n["dur"])["name"] if around else None
    return {"operator": name, "self_us": own[name], "stall_us": gap, "during": during}
