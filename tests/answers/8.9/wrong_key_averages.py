"""Divides the summed self time by the number of calls: an average, not a total."""
from collections import Counter, defaultdict


def hot_spots(events):
    spans = [e for e in events if e["ph"] == "X"]
    steps = [e for e in spans if e["name"].startswith("ProfilerStep#")]
    ops = [e for e in spans if e["cat"] == "cpu_op" and e["tid"] == steps[0]["tid"]]
    ops.sort(key=lambda e: (e["ts"], -e["dur"]))
    own, calls, stack = defaultdict(float), Counter(e["name"] for e in ops), []
    for op in ops:
        while stack and stack[-1]["ts"] + stack[-1]["dur"] <= op["ts"]:
            stack.pop()
        own[op["name"]] += op["dur"]
        if stack:
            own[stack[-1]["name"]] -= op["dur"]
        stack.append(op)
    average = {name: own[name] / calls[name] for name in own}
    name = max(average, key=average.get)
    return {"operator": name, "self_us": average[name], "stall_us": 0.0, "during": None}
