"""A sweep over start and end points: each slice of time belongs to the operator opened last."""
from collections import Counter


def hot_spots(events):
    is_step = lambda e: e.get("name", "").startswith("ProfilerStep#")  # noqa: E731
    step_events = [e for e in events if is_step(e)]
    key = lambda e: (e.get("pid"), e.get("tid"))  # noqa: E731
    here = [e for e in events if e.get("ph") == "X" and key(e) == key(step_events[0])]
    points = []
    for e in here:
        if e["cat"] == "cpu_op":
            points.append((e["ts"], 1, -e["dur"], e["name"]))
            points.append((e["ts"] + e["dur"], 0, e["dur"], e["name"]))
    for s in step_events:
        points += [(s["ts"], 2, 0, s["dur"]), (s["ts"] + s["dur"], 2, 1, None)]
    points.sort(key=lambda p: p[:3])

    own, stack, gaps = Counter(), [], []
    in_step, before = None, None
    for time, kind, order, name in points:
        if before is not None:
            if stack:
                own[stack[-1]] += time - before
            elif in_step and time > before:
                gaps.append((time - before, before, in_step))
        if kind == 1:
            stack.append(name)
        elif kind == 0:
            stack.pop()
        else:
            in_step = name
        before = time
    operator, self_us = own.most_common(1)[0]
    result = dict(operator=operator, self_us=self_us, stall_us=0.0, during=None)
    length, start, whole = max(gaps)
    if length >= 0.1 * whole:
        middle = start + length / 2
        names = sorted(
            (e["dur"], e["name"])
            for e in here
            if e["cat"] == "user_annotation" and not is_step(e) and e["ts"] < middle < e["ts"] + e["dur"]
        )
        result.update(stall_us=length, during=names[0][1] if names else None)
    return result
