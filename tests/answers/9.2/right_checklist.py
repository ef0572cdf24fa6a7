"""One straight checklist, cheapest question first."""

import torch


def diagnose(run):
    n = run.batches()
    epoch = [run.batch(i) for i in range(n)]

    def passes():
        for _ in range(2):
            for i in range(n):
                run.step(i)
        return run.score()

    def size(gradients):
        return sum(g.pow(2).sum().item() for g in gradients.values() if g is not None) ** 0.5

    # 1. are the inputs numbers?
    count, ids, control = 0, [], None
    for i, b in enumerate(epoch):
        ok = torch.isfinite(b["inputs"])
        if ok.all():
            continue
        count += int((~ok).sum())
        ids += b["ids"][~ok.all(dim=1)].tolist()
        if control is None:
            run.edit(b["ids"], inputs=torch.where(ok, b["inputs"], 0.0))
            control = run.loss(i)
    if count:
        return {"fault": "nan input", "observable": {"value": float(count), "ids": ids}, "control": {"value": control}}

    # 2. do the targets belong to the examples?
    everything = torch.cat([b["ids"] for b in epoch])
    supplied = torch.cat([b["targets"] for b in epoch])
    recorded = run.catalog(everything)
    wrong = supplied != recorded
    if wrong.any():
        run.reset()
        run.edit(everything, targets=recorded)
        return {
            "fault": "wrong labels",
            "observable": {"value": wrong.float().mean().item(), "ids": everything[wrong].tolist()},
            "control": {"value": passes()},
        }

    # 3. does an update use only its own gradients?
    run.reset()
    run.step(0, lr=0.0)
    run.step(0, lr=0.0)
    piled = size(run.gradients())
    run.reset()
    run.step(0, lr=0.0)
    run.zero_grad()
    run.step(0, lr=0.0)
    fresh = size(run.gradients())
    if piled > 1.01 * fresh:
        return {"fault": "zero_grad", "observable": {"value": piled, "ids": []}, "control": {"value": fresh}}

    # 4. does every tensor with a gradient move?
    run.reset()
    start, pulled = run.parameters(), set()
    for i in range(n):
        run.step(i)
        pulled |= {k for k, g in run.gradients().items() if g is not None and g.abs().sum() > 0}
    end = run.parameters()
    stuck = [k for k in start if k in pulled and torch.equal(start[k], end[k])]
    if stuck:
        run.reset()
        before = run.backward(0)
        g = run.gradients()
        value = size({k: g[k] for k in stuck})
        run.assign({k: start[k] - run.lr() * g[k] for k in stuck})
        return {
            "fault": "wrong parameter",
            "observable": {"value": value, "ids": stuck},
            "control": {"value": run.loss(0) - before},
        }

    # 5. does the rate suit the curvature?
    growth = []
    for factor in (1.0, 0.1):
        run.reset()
        before = run.loss(0)
        for _ in range(30):
            run.step(0, lr=run.lr() * factor)
        growth.append(run.loss(0) / before)
    if growth[0] > 1 > growth[1]:
        return {"fault": "learning rate", "observable": {"value": growth[0], "ids": []}, "control": {"value": growth[1]}}

    # 6. nothing stands; does it learn its task?
    run.reset()
    learned = passes()
    run.reset()
    for b in epoch:
        run.edit(b["ids"], targets=b["targets"].roll(1))
    return {"fault": "healthy", "observable": {"value": learned, "ids": []}, "control": {"value": passes()}}
