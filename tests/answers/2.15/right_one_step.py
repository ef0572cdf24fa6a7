"""Style: two steps of the recurrence from w = 1, compared."""


def fate(a, eta):
    path = [1.0]
    for _ in range(2):
        path.append(path[-1] - eta * (a * path[-1]))
    if path[1] == path[0]:
        return "stay"
    if path[2] == path[0]:
        return "oscillate"
    return "converge" if abs(path[1]) < abs(path[0]) else "diverge"
