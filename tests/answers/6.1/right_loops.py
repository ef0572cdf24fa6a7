"""Style: lists and explicit loops, no dict."""


def first_seen(ids):
    seen = []
    for i in ids:
        if i not in seen:
            seen.append(i)
    return seen


def trace_ids(stages):
    out = []
    for k in range(1, len(stages)):
        a, b = stages[k - 1]["ids"], stages[k]["ids"]
        report = {"dropped": [], "added": [], "duplicated": [], "reordered": False, "retargeted": []}
        for i in first_seen(a):
            if i not in b:
                report["dropped"].append(i)
                continue
            if b.count(i) > a.count(i):
                report["duplicated"].append(i)
            if stages[k - 1]["targets"][a.index(i)] != stages[k]["targets"][b.index(i)]:
                report["retargeted"].append(i)
        for i in first_seen(b):
            if i not in a:
                report["added"].append(i)
        places = [b.index(i) for i in first_seen(a) if i in b]
        for p, q in zip(places, places[1:]):
            if p > q:
                report["reordered"] = True
        out.append(report)
    return out
