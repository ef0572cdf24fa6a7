"""A tree of spans built by recursion; gaps from intervals merged afterwards."""


class Node:
    def __init__(self, event):
        self.event, self.children = event, []
        self.start, self.end = event["ts"], event["ts"] + event["dur"]

    def own(self):
        return self.event["dur"] - sum(child.event["dur"] for child in self.children)


def _grow(queue, end):
    nodes = []
    while queue and queue[0]["ts"] < end:
        node = Node(queue.pop(0))
        node.children = _grow(queue, node.end)
        nodes.append(node)
    return nodes


def _walk(nodes):
    for node in nodes:
        yield node
        yield from _walk(node.children)


def _thread(events):
    for event in events:
        if event["name"].startswith("ProfilerStep"):
            return event["pid"], event["tid"]


def hot_spots(events):
    thread = _thread(events)
    spans = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == thread]
    queue = [e for e in spans if e["cat"] == "cpu_op"]
    queue.sort(key=lambda e: -e["dur"])
    queue.sort(key=lambda e: e["ts"])
    roots = _grow(queue, float("inf"))
    totals = {}
    for node in _walk(roots):
        totals[node.event["name"]] = totals.get(node.event["name"], 0) + node.own()
    operator = sorted(totals.items(), key=lambda pair: pair[1])[-1]

    stall, during = 0.0, None
    where = None
    for step in (e for e in spans if e["name"].startswith("ProfilerStep")):
        bounds = [step["ts"]]
        for root in roots:
            if step["ts"] <= root.start < step["ts"] + step["dur"]:
                bounds += [root.start, root.end]
        bounds.append(step["ts"] + step["dur"])
        for left, right in zip(bounds[::2], bounds[1::2]):
            if right - left > stall and right - left >= step["dur"] / 10:
                stall, where = right - left, (left + right) / 2
    if where is not None:
        for note in sorted((e for e in spans if e["cat"] == "user_annotation"), key=lambda e: -e["dur"]):
            inside = note["ts"] <= where <= note["ts"] + note["dur"]
            if inside and not note["name"].startswith("ProfilerStep"):
                during = note["name"]
    return {"operator": operator[0], "self_us": operator[1], "stall_us": stall, "during": during}
