"""Style: Counter, smallest groups first, until the share is reached."""

from collections import Counter


def group_split(groups, fraction):
    chosen, size = set(), 0
    for name, count in sorted(Counter(groups).items(), key=lambda item: item[1]):
        if size and size + count > fraction * len(groups):
            break
        chosen.add(name)
        size += count
    val = [i for i, name in enumerate(groups) if name in chosen]
    train = [i for i, name in enumerate(groups) if name not in chosen]
    return train, val
