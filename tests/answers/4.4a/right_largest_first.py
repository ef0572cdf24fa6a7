"""Style: largest groups first, each to the side that lacks most."""


def group_split(groups, fraction):
    members = {}
    for row, name in enumerate(groups):
        members.setdefault(name, []).append(row)
    lacks = {"val": fraction * len(groups), "train": (1 - fraction) * len(groups)}
    sides = {"val": [], "train": []}
    for name in sorted(members, key=lambda n: (-len(members[n]), n)):
        side = max(lacks, key=lacks.get)
        sides[side].extend(members[name])
        lacks[side] -= len(members[name])
    for empty, full in (("val", "train"), ("train", "val")):
        if not sides[empty]:
            raise ValueError("one group only")
    return sides["train"], sides["val"]
