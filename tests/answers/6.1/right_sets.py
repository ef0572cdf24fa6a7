"""Style: set algebra; pairs of id and target as a set."""

from itertools import pairwise


def trace_ids(stages):
    def compare(a, b):
        ids_a, ids_b = a["ids"], b["ids"]
        both = set(ids_a) & set(ids_b)
        pairs = set(zip(ids_a, a["targets"])) ^ set(zip(ids_b, b["targets"]))
        order = [sorted(both, key=ids.index) for ids in (ids_a, ids_b)]
        return dict(
            dropped=list(set(ids_a) - both),
            added=list(set(ids_b) - both),
            duplicated=[i for i in both if ids_b.count(i) > ids_a.count(i)],
            reordered=order[0] != order[1],
            retargeted=list({i for i, _ in pairs} & both),
        )

    return [compare(a, b) for a, b in pairwise(stages)]
