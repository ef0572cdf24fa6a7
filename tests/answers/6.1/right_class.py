"""Style: a class that remembers the stage before."""


class Tracer:
    def __init__(self, stage):
        self.take(stage)

    def take(self, stage):
        self.rank, self.count, self.target = {}, {}, {}
        for position, (i, target) in enumerate(zip(stage["ids"], stage["targets"])):
            self.rank.setdefault(i, position)
            self.count[i] = self.count.get(i, 0) + 1
            self.target[i] = target

    def step(self, stage):
        old = Tracer.__new__(Tracer)
        old.__dict__.update(self.__dict__)
        self.take(stage)
        kept = sorted(set(old.rank) & set(self.rank), key=old.rank.__getitem__)
        ranks = [self.rank[i] for i in kept]
        return {
            "dropped": sorted(set(old.rank).difference(self.rank)),
            "added": sorted(set(self.rank).difference(old.rank)),
            "duplicated": [i for i in kept if self.count[i] > old.count[i]],
            "reordered": ranks != sorted(ranks),
            "retargeted": [i for i in kept if self.target[i] != old.target[i]],
        }


def trace_ids(stages):
    tracer = Tracer(stages[0])
    return [tracer.step(stage) for stage in stages[1:]]
