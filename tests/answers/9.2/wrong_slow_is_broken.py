"""Takes a loss that has not fallen to a fifth in 30 updates for a wrong rate."""

import torch


def diagnose(run):
    epoch = [run.batch(i) for i in range(run.batches())]
    ids, targets = torch.cat([b["ids"] for b in epoch]), torch.cat([b["targets"] for b in epoch])
    for suspicion in (nan_input, wrong_labels, zero_grad, wrong_parameter, learning_rate, healthy):
        run.reset()
        found = suspicion(run, epoch, ids, targets)
        if found is not None:
            value, control, names = found
            fault = suspicion.__name__ if suspicion is zero_grad else suspicion.__name__.replace("_", " ")
            return {"fault": fault, "observable": {"value": value, "ids": names}, "control": {"value": control}}


def nan_input(run, epoch, ids, targets):
    bad = [~b["inputs"].isfinite() for b in epoch]
    if not any(b.any() for b in bad):
        return None
    first = next(i for i, b in enumerate(bad) if b.any())
    run.edit(epoch[first]["ids"], inputs=epoch[first]["inputs"].masked_fill(bad[first], 0))
    return float(torch.cat(bad).sum()), run.loss(first), ids[torch.cat(bad).any(1)].tolist()


def wrong_labels(run, epoch, ids, targets):
    apart = targets != run.catalog(ids)
    if not apart.any():
        return None
    run.edit(ids, targets=run.catalog(ids))
    return int(apart.sum()) / len(ids), trained(run, epoch), ids[apart].tolist()


def zero_grad(run, epoch, ids, targets):
    run.step(0, lr=0.0)
    run.step(0, lr=0.0)
    second = norm(run.gradients().values())
    run.zero_grad()
    run.step(0, lr=0.0)
    cleared = norm(run.gradients().values())
    return (second, cleared, []) if second > 1.01 * cleared else None


def wrong_parameter(run, epoch, ids, targets):
    start, pulled = run.parameters(), set()
    for i in range(len(epoch)):
        run.step(i)
        pulled |= {name for name, g in run.gradients().items() if g is not None and g.any()}
    end = run.parameters()
    names = [name for name in start if name in pulled and torch.equal(start[name], end[name])]
    if not names:
        return None
    run.reset()
    before, pull = run.backward(0), run.gradients()
    run.assign({name: start[name] - run.lr() * pull[name] for name in names})
    return norm(pull[name] for name in names), run.loss(0) - before, names


def learning_rate(run, epoch, ids, targets):
    whole, tenth = growth(run, run.lr()), growth(run, run.lr() / 10)
    return (whole, tenth, []) if whole > 0.2 else None


def healthy(run, epoch, ids, targets):
    learned = trained(run, epoch)
    run.reset()
    for b in epoch:
        run.edit(b["ids"], targets=b["targets"].roll(1))
    return learned, trained(run, epoch), []


def growth(run, rate):
    run.reset()
    before = run.loss(0)
    for _ in range(30):
        run.step(0, lr=rate)
    return run.loss(0) / before


def trained(run, epoch):
    for i in 2 * list(range(len(epoch))):
        run.step(i)
    return run.score()


def norm(tensors):
    return sum(t.square().sum().item() for t in tensors if t is not None) ** 0.5
