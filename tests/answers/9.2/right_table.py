"""Everything measured first into a table, decided afterwards; runs under no_grad throughout."""

import torch


@torch.no_grad()
def diagnose(run):
    n, rate = run.batches(), run.lr()
    data = {key: [run.batch(i)[key] for i in range(n)] for key in ("ids", "inputs", "targets")}
    ids, targets = torch.cat(data["ids"]), torch.cat(data["targets"])
    bad = ~torch.cat(data["inputs"]).isfinite()
    apart = targets != run.catalog(ids)
    table = {}

    if bad.any():
        first = next(i for i in range(n) if not data["inputs"][i].isfinite().all())
        run.edit(data["ids"][first], inputs=data["inputs"][first].nan_to_num(0, 0, 0))
        table["nan input"] = (float(bad.sum()), run.loss(first), ids[bad.any(1)].tolist())
    elif apart.any():
        run.edit(ids, targets=run.catalog(ids))
        table["wrong labels"] = (int(apart.sum()) / len(ids), trained(run, n), ids[apart].tolist())
    else:
        table |= {"zero_grad": pile(run), "wrong parameter": stuck(run, n, rate), "learning rate": growth(run, rate)}
        run.reset()
        value = trained(run, n)
        run.reset()
        for keys, values in zip(data["ids"], data["targets"]):
            run.edit(keys, targets=torch.cat([values[-1:], values[:-1]]))
        table["healthy"] = (value, trained(run, n), [])

    fault = next(name for name, found in table.items() if stands(name, found))
    value, control, names = table[fault]
    return {"fault": fault, "observable": {"value": value, "ids": names}, "control": {"value": control}}


def stands(name, found):
    value, control, names = found
    if name == "zero_grad":
        return value / control > 1.02
    if name == "wrong parameter":
        return len(names) > 0
    if name == "learning rate":
        return value > 1 and control < 1
    return True


def flat(tensors):
    return torch.cat([t.double().flatten() for t in tensors if t is not None] or [torch.zeros(1)])


def pile(run):
    norms = []
    for between in (lambda: None, run.zero_grad):
        run.reset()
        run.step(0, lr=0.0)
        between()
        run.step(0, lr=0.0)
        norms.append(flat(run.gradients().values()).norm().item())
    return norms[0], norms[1], []


def stuck(run, n, rate):
    run.reset()
    before = run.parameters()
    ever = {name: False for name in before}
    for i in range(n):
        run.step(i)
        for name, g in run.gradients().items():
            ever[name] |= g is not None and g.count_nonzero().item() > 0
    after = run.parameters()
    names = [name for name in before if ever[name] and (before[name] == after[name]).all()]
    run.reset()
    start = run.backward(0)
    pull = {name: run.gradients()[name] for name in names}
    run.assign({name: before[name] - rate * g for name, g in pull.items()})
    return flat(pull.values()).norm().item(), run.loss(0) - start, names


def growth(run, rate):
    found = []
    for factor in (1, 10):
        run.reset()
        start = run.step(0, lr=rate / factor)
        for _ in range(29):
            run.step(0, lr=rate / factor)
        found.append(run.loss(0) / start)
    return found[0], found[1], []


def trained(run, n):
    for k in range(2 * n):
        run.step(k % n)
    return run.score()
