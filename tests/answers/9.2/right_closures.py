"""Small closures over the run, gradients taken as flat vectors, default dtype float64."""

import torch
from torch.nn.utils import parameters_to_vector


def diagnose(run):
    torch.set_default_dtype(torch.float64)
    total = run.batches()

    def fresh(action):
        run.reset()
        return action()

    def answer(fault, value, control, ids=()):
        return {"fault": fault, "observable": {"value": value, "ids": list(ids)}, "control": {"value": control}}

    def taught(relabel):
        for i in range(total):
            batch = run.batch(i)
            new = relabel(batch)
            if new is not None:
                run.edit(batch["ids"], targets=new)
        for _ in range(2):
            for i in range(total):
                run.step(i)
        return run.score()

    def used():
        return parameters_to_vector([g for g in run.gradients().values() if g is not None]).norm().item()

    def twice(clear):
        run.step(0, lr=0.0)
        if clear:
            run.zero_grad()
        run.step(0, lr=0.0)
        return used()

    def factor(rate):
        first = run.loss(0)
        for _ in range(30):
            run.step(0, lr=rate)
        return run.loss(0) / first

    dirty = {i: ~run.batch(i)["inputs"].isfinite() for i in range(total)}
    dirty = {i: bad for i, bad in dirty.items() if bad.any()}
    if dirty:
        ids = [k for i, bad in dirty.items() for k in run.batch(i)["ids"][bad.any(1)].tolist()]
        i = min(dirty)
        inputs = run.batch(i)["inputs"]
        inputs[dirty[i]] = 0
        run.edit(run.batch(i)["ids"], inputs=inputs)
        return answer("nan input", float(sum(int(bad.sum()) for bad in dirty.values())), run.loss(i), ids)

    rate = run.lr()
    second, cleared = fresh(lambda: twice(False)), fresh(lambda: twice(True))
    if abs(second - cleared) > 0.01 * cleared:
        return answer("zero_grad", second, cleared)

    supplied = {k: t for i in range(total) for k, t in zip(run.batch(i)["ids"].tolist(), run.batch(i)["targets"].tolist())}
    recorded = dict(zip(supplied, run.catalog(list(supplied)).tolist()))
    wrong = [k for k in supplied if supplied[k] != recorded[k]]
    if wrong:
        return answer("wrong labels", len(wrong) / len(supplied), fresh(lambda: taught(lambda b: run.catalog(b["ids"]))), wrong)

    run.reset()
    old, seen = run.parameters(), {}
    for i in range(total):
        run.step(i)
        for name, g in run.gradients().items():
            seen[name] = max(seen.get(name, 0.0), 0.0 if g is None else g.abs().max().item())
    new = run.parameters()
    still = [name for name in old if seen[name] > 0 and not (new[name] != old[name]).any()]
    if still:
        run.reset()
        before = run.backward(0)
        g = run.gradients()
        value = parameters_to_vector([g[name] for name in still]).norm().item()
        run.assign({name: old[name].double() - rate * g[name].double() for name in still})
        return answer("wrong parameter", value, run.loss(0) - before, still)

    full, tenth = fresh(lambda: factor(rate)), fresh(lambda: factor(rate / 10))
    if full > 1 > tenth:
        return answer("learning rate", full, tenth)
    return answer("healthy", fresh(lambda: taught(lambda b: None)), fresh(lambda: taught(lambda b: b["targets"].roll(1))))
