"""One class a suspicion, each with `suspect` and `report`; the first that holds is reported."""

import math


class Suspicion:
    name = ""

    def __init__(self, run):
        run.reset()
        self.run, self.ids = run, []
        self.value, self.control = self.measure(run)

    def report(self):
        return {
            "fault": self.name,
            "observable": {"value": self.value, "ids": self.ids},
            "control": {"value": self.control},
        }


def norm(tensors):
    return math.sqrt(sum(float((t * t).sum()) for t in tensors if t is not None))


def two_passes(run):
    order = list(range(run.batches()))
    for i in order + order:
        run.step(i)
    return run.score()


class NanInput(Suspicion):
    name = "nan input"

    def measure(self, run):
        cells, loss = 0, run.loss(0)
        for i in range(run.batches()):
            batch = run.batch(i)
            for key, row in zip(batch["ids"].tolist(), batch["inputs"].tolist()):
                bad = sum(not math.isfinite(cell) for cell in row)
                if bad:
                    self.ids.append(key)
                cells += bad
            if cells and not hasattr(self, "seen"):
                self.seen = True
                run.edit(batch["ids"], inputs=batch["inputs"].nan_to_num(0.0, 0.0, 0.0))
                loss = run.loss(i)
        return float(cells), loss

    def holds(self):
        return self.value > 0


class WrongLabels(Suspicion):
    name = "wrong labels"

    def measure(self, run):
        total = 0
        for i in range(run.batches()):
            batch = run.batch(i)
            for key, target in zip(batch["ids"].tolist(), batch["targets"]):
                total += 1
                true = run.catalog([key])
                if true.item() != target.item():
                    self.ids.append(key)
                    run.edit([key], targets=true)
        return len(self.ids) / total, two_passes(run) if self.ids else 0.0

    def holds(self):
        return bool(self.ids)


class Accumulates(Suspicion):
    name = "zero_grad"

    def measure(self, run):
        run.step(0, lr=0)
        run.step(0, lr=0)
        second = norm(run.gradients().values())
        run.zero_grad()
        run.step(0, lr=0)
        return second, norm(run.gradients().values())

    def holds(self):
        return not math.isclose(self.value, self.control, rel_tol=1e-2)


class NeverMoves(Suspicion):
    name = "wrong parameter"

    def measure(self, run):
        start = run.parameters()
        pulled = dict.fromkeys(start, 0.0)
        for i in range(run.batches()):
            run.step(i)
            for name, g in run.gradients().items():
                pulled[name] += norm([g])
        moved = {name: norm([now - start[name]]) for name, now in run.parameters().items()}
        self.ids = [name for name in start if pulled[name] > 0 and moved[name] == 0]
        run.reset()
        run.backward(0)
        pull = run.gradients()
        before = run.loss(0)
        run.assign({name: start[name] - run.lr() * pull[name] for name in self.ids})
        return norm([pull[name] for name in self.ids]), run.loss(0) - before

    def holds(self):
        return bool(self.ids)


class TooFast(Suspicion):
    name = "learning rate"

    def measure(self, run):
        return self.grow(run, 1), self.grow(run, 0.1)

    def grow(self, run, factor):
        run.reset()
        losses = [run.loss(0)]
        for _ in range(30):
            run.step(0, factor * run.lr())
            losses.append(run.loss(0))
        return losses[-1] / losses[0]

    def holds(self):
        return self.value > 1


class Healthy(Suspicion):
    name = "healthy"

    def measure(self, run):
        value = two_passes(run)
        run.reset()
        for i in range(run.batches()):
            batch = run.batch(i)
            ids = batch["ids"].tolist()
            run.edit(ids[1:] + ids[:1], targets=batch["targets"])
        return value, two_passes(run)

    def holds(self):
        return True


def diagnose(run):
    for kind in (NanInput, WrongLabels, Accumulates, NeverMoves, TooFast, Healthy):
        suspicion = kind(run)
        if suspicion.holds():
            return suspicion.report()
