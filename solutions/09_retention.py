# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 9 · Retention: five broken runs
#
# Everything so far, on runs whose code you cannot read. You hold a run by its **observables**, numbers that it
# gives you, and its **interventions**, things that you may change. What you say of it needs both: an observable that
# shows the fault, and a **control**, one changed variable under which the suspicion would be refuted.
#
# The five faults: a nan input, a wrong parameter optimized, a learning rate too large for the curvature, a forgotten
# `zero_grad`, wrong labels. And, as in life, runs that only look broken.

# %% tags=["setup"] nbgrader={"grade_id": "setup-09", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import math

import matplotlib.pyplot as plt
import torch

from autograder import check, hint

# %matplotlib inline
torch.set_num_threads(1)
torch.manual_seed(0)
plt.rcParams.update({"figure.figsize": (6.4, 3.2), "figure.dpi": 90, "axes.grid": True, "grid.alpha": 0.3})

# %% [markdown]
# ## How to probe a run
#
# | ask | what comes back, or what it does |
# |---|---|
# | `batches()` | number of batches in a pass; they are numbered from 0 |
# | `batch(i)` | batch `i` as supplied: `{"ids": [B], "inputs": [B, F], "targets": [B]}` |
# | `catalog(ids)` | the recorded targets of these ids, in the order asked |
# | `edit(ids, inputs=…, targets=…)` | gives these examples other inputs or targets, until `reset()` |
# | `loss(i)` | the loss on batch `i` now; changes nothing |
# | `score()` | the loss on held-out examples with the catalog's targets; lower is better |
# | `lr()` | the run's learning rate |
# | `parameters()` | every tensor of the forward pass, by name |
# | `gradients()` | what lies in each tensor's gradient now; `None` where there is none |
# | `assign({name: tensor})` | overwrites tensors |
# | `backward(i)` | adds the gradient of the loss on batch `i` to the gradients; returns that loss |
# | `zero_grad()` | clears every gradient |
# | `step(i, lr=…)` | one update **as this run makes it**, with its faults, on batch `i` (default: the next in order) at rate `lr` (default: its own); returns the loss before it |
# | `reset()` | back to the start: parameters, gradients, data and position |
#
# All runs descend plainly, without momentum or weight decay. `step` clears gradients (if the run does), computes new
# ones, then updates, so after it `gradients()` shows what the update used. Some runs gather the mean gradient of the
# next two or three batches for one update; that is no fault.

# %%
from autograder.runs import open_run  # lesson cells only: a graded answer is handed its run

run = open_run("F")
print(run)
first = run.batch(0)
print({name: (tuple(t.shape), str(t.dtype)) for name, t in first.items()})
print({name: tuple(p.shape) for name, p in run.parameters().items()})
print(f"{run.batches()} batches, rate {run.lr():.2f}, loss on batch 0: {run.loss(0):.2f}")
before = run.loss(0)
run.step(0)
print(f"after one update on batch 0: {run.loss(0):.2f}")
assert run.loss(0) < before
run.reset()
assert run.loss(0) == before

# %% [markdown]
# ## What the loss curve does not say
#
# **Claim.** Of six runs, A to F, only one is healthy, and four have a training loss that falls for good. The curve
# points at two of the five faults, and even there not at a cause: A is nan and C explodes.
#
# **Control.** The held-out loss, with the catalog's labels, tells D and E from F. It does not say why.

# %% tags=["claim-9.2"]
LINES = {"A": "o:", "B": "s-", "C": "^--", "D": "v-.", "E": "D:", "F": "*-"}


def mean_loss(run):
    """Mean over the batches; changes nothing."""
    return sum(run.loss(i) for i in range(run.batches())) / run.batches()


def history(name, passes=8):
    """Training and held-out loss before the first pass and after each."""
    run = open_run(name)
    record = [(mean_loss(run), run.score())]
    for _ in range(passes):
        for _ in range(run.batches()):
            run.step()
        record.append((mean_loss(run), run.score()))
    return record


curves = {name: history(name) for name in LINES}
fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.0), sharey=True, layout="constrained")
for axis, column, title in zip(axes, (0, 1), ("training loss", "held-out loss")):
    for name, record in curves.items():
        axis.plot([row[column] for row in record], LINES[name], markersize=5, label=f"run {name}")
    axis.set(title=title, xlabel="passes", yscale="log", ylim=(0.05, 20))
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
plt.show()

for name, record in curves.items():
    (train, held), (train_end, held_end) = record[0], record[-1]
    ends = [f"{end:.2f}" if end < 1e6 else "nan" if math.isnan(end) else "over 1e6" for end in (train_end, held_end)]
    print(f"run {name}: training {train:.2f} -> {ends[0]:9s} held-out {held:.2f} -> {ends[1]}")
assert math.isnan(curves["A"][0][0]) and curves["C"][-1][0] > 1e6
assert all(curves[name][-1][0] < 0.6 * curves[name][0][0] for name in "BDEF")
assert all(curves[name][-1][1] > curves[name][0][1] for name in "DE")
assert curves["F"][-1][1] < 0.6 * curves["F"][0][1]

# %% [markdown]
# *Left: B, D, E and F all learn their training batches; A has no loss to draw, C leaves the frame. Right: D and E get
# worse on what they have not seen, B gets better in spite of its fault.*
#
# ## 1 · A nan input
#
# **Claim.** A nonfinite input is seen before any arithmetic, and only by looking at every batch: in run A the first
# batches and their losses are finite.
#
# **Control.** The suspicion says that the cells, and nothing else, spoil the loss. Give the example the inputs of a
# neighbor: if the loss stayed nan, the cause would be elsewhere. Healthy run F has no such cell.


# %% tags=["claim-9.2"]
def nonfinite_cells(run):
    """Number of nonfinite input cells in each batch."""
    return [int((~run.batch(i)["inputs"].isfinite()).sum()) for i in range(run.batches())]


a, f = open_run("A"), open_run("F")
cells = nonfinite_cells(a)
at = next(i for i, count in enumerate(cells) if count)
print("A, nonfinite cells by batch:", cells)
print("A, loss finite by batch:    ", [math.isfinite(a.loss(i)) for i in range(a.batches())])
print("F, nonfinite cells by batch:", nonfinite_cells(f))
assert math.isfinite(a.loss(0)) and at > 0 and sum(nonfinite_cells(f)) == 0

batch = a.batch(at)
row = int((~batch["inputs"].isfinite()).any(dim=1).nonzero()[0])
neighbor = (row + 1) % len(batch["ids"])
a.edit(batch["ids"][row : row + 1], inputs=batch["inputs"][neighbor : neighbor + 1])
print(f"A, id {int(batch['ids'][row])} given its neighbor's inputs: loss on batch {at} is finite:", math.isfinite(a.loss(at)))
assert math.isfinite(a.loss(at))

# %% [markdown]
# `isnan` would miss an infinity; `isfinite` sees both.
#
# ## 2 · A wrong parameter
#
# **Claim.** In run B some tensors have a finite gradient, different from zero, and never move. Their loss falls all
# the same, because the others move.
#
# **Control.** The suspicion says that the update does not reach them. If they were merely slow, a rate 1000 times
# larger would move them; if moving them were no use, moving them by hand would not lower the loss. A tensor
# *without* a gradient is another matter: in healthy run F the body is frozen, and has none.


# %% tags=["claim-9.2"]
def movement(run, lr=None):
    """By tensor: norm of its first gradient (None without one) and its largest change over a pass."""
    run.reset()
    run.step(0, lr=0.0)
    norms = {name: None if g is None else g.norm().item() for name, g in run.gradients().items()}
    start = run.parameters()
    for i in range(run.batches()):
        run.step(i, lr=lr)
    return {name: (norms[name], (p - start[name]).abs().max().item()) for name, p in run.parameters().items()}


moved = {name: movement(open_run(name)) for name in "BF"}
for name, table in moved.items():
    for tensor, (g, change) in table.items():
        seen = "none" if g is None else f"{g:.2f}"
        print(f"run {name}  {tensor:14s} gradient {seen:>5s}   moved: {change > 0}")
still = [tensor for tensor, (g, change) in moved["B"].items() if g and change == 0]
assert still and all(change > 0 for g, change in moved["F"].values() if g)
assert any(g is None and change == 0 for g, change in moved["F"].values())

b = open_run("B")
fast = movement(b, lr=1000 * b.lr())
b.reset()
before = b.backward(0)
gradient, values = b.gradients(), b.parameters()
b.assign({tensor: values[tensor] - b.lr() * gradient[tensor] for tensor in still})
print(f"B at 1000 times the rate: {', '.join(still)} moved:", any(fast[t][1] > 0 for t in still))
print("B, these tensors moved by hand: the loss falls:", b.loss(0) < before)
assert all(fast[t][1] == 0 for t in still) and b.loss(0) < before

# %% [markdown]
# One update is too short a watch: below a head of zeros the first gradient is exactly zero, and nothing there moves
# until the head has.
#
# ## 3 · A rate too large for the curvature
#
# **Claim.** On a quadratic, the part of the error along a direction of curvature λ is multiplied by 1 - ηλ at every
# update, so the loss there by (1 - ηλ)². In run C the loss first falls to a hundredth; then the steepest direction
# takes over, and the loss grows by the same factor each time.
#
# **Control.** That factor predicts the rate at which the growth would end, 2/λ. A tenth above it the run must
# diverge, a tenth below it must not. If both behaved alike, the rate would not be the cause.


# %% tags=["claim-9.2"]
def descent(run, rate, updates=30):
    """Loss on batch 0 before and after each of `updates` updates on batch 0."""
    run.reset()
    return [run.step(0, lr=rate) for _ in range(updates)] + [run.loss(0)]


c = open_run("C")
own = descent(c, c.lr())
factor = own[-1] / own[-2]
curvature = (1 + math.sqrt(factor)) / c.lr()
limit = 2 / curvature
above, below = descent(c, 1.1 * limit, 100), descent(c, 0.9 * limit, 100)
print(f"C: loss {own[0]:.1f}, after 3 updates {own[3]:.2f}, after 30 {own[-1]:.0e}")
print(f"C: the loss grows by {factor:.1f} an update, so rate times curvature is {c.lr() * curvature:.2f}")
print("C: a tenth above the limit it grows:", above[-1] > above[0], "  a tenth below:", below[-1] > below[0])
f = open_run("F")
healthy = descent(f, f.lr())
print("F at its own rate: it grows:", healthy[-1] > healthy[0])
assert own[3] < 0.05 * own[0] and own[-1] > 1e6 * own[0] and c.lr() * curvature > 2
assert above[-1] > above[0] > below[-1] and healthy[-1] < healthy[0]

# %% [markdown]
# ## 4 · A forgotten `zero_grad`
#
# **Claim.** In run D an update uses the sum of all gradients so far. At rate 0 nothing moves, so the same batch gives
# the same gradient each time, and the sum grows 1, 2, 3, 4, 5 times.
#
# **Control.** Clear by hand between the updates: if the gradient still grew, something else would be adding to it.
# Healthy run G takes the mean over several batches for one update. Its gradient is not that of batch 0 alone, which
# looks suspicious, and clearing changes nothing.


# %% tags=["claim-9.2"]
def size(gradients):
    """Norm over all tensors together."""
    return math.sqrt(sum(g.square().sum().item() for g in gradients.values() if g is not None))


def repeated(run, clear=False, updates=5):
    """Norm of the gradient that each of several updates on batch 0 uses, at rate 0, over that of the first."""
    run.reset()
    norms = []
    for _ in range(updates):
        if clear:
            run.zero_grad()
        run.step(0, lr=0.0)
        norms.append(size(run.gradients()))
    return [round(norm / norms[0], 3) for norm in norms]


d, g = open_run("D"), open_run("G")
print("D as it is:     ", repeated(d))
print("D, cleared:     ", repeated(d, clear=True))
print("G as it is:     ", repeated(g))
g.reset()
g.backward(0)
alone = g.gradients()
g.reset()
g.step(0, lr=0.0)
apart = size({name: used - alone[name] for name, used in g.gradients().items()}) / size(alone)
print(f"G, distance of what an update uses from the gradient of batch 0: {apart:.0%} of it")
assert repeated(d) == [1, 2, 3, 4, 5] and repeated(d, clear=True) == repeated(g) == [1] * 5
assert apart > 0.1

# %% [markdown]
# ## 5 · Wrong labels
#
# **Claim.** Run E fits its batches, and its targets are not those that the catalog has for the same ids. No curve of
# the training loss shows it, nor would an overfit batch.
#
# **Control.** Train again with the catalog's targets, joined by id, and nothing else changed. If the held-out loss
# were no better, the labels would not be to blame. Healthy run F has no mismatch.


# %% tags=["claim-9.2"]
def mismatches(run):
    """In each batch, the number of targets that are not the catalog's."""
    batches = [run.batch(i) for i in range(run.batches())]
    return [int((batch["targets"] != run.catalog(batch["ids"])).sum()) for batch in batches]


def held_out(run, joined, passes=6):
    """Held-out loss after training with the targets as supplied, or with the catalog's."""
    run.reset()
    for i in range(run.batches()):
        ids = run.batch(i)["ids"]
        if joined:
            run.edit(ids, targets=run.catalog(ids))
    for _ in range(passes * run.batches()):
        run.step()
    return run.score()


e, f = open_run("E"), open_run("F")
print("E, mismatches by batch:", mismatches(e))
print("F, mismatches by batch:", mismatches(f))
start = e.score()
supplied, joined = held_out(e, False), held_out(e, True)
print(f"E, held-out loss: {start:.2f} at the start, {supplied:.2f} as supplied, {joined:.2f} with the catalog's targets")
assert sum(mismatches(open_run("E"))) > 20 and sum(mismatches(open_run("F"))) == 0
assert joined < 0.6 * start < supplied

# %% [markdown]
# ## Five observables, five blind spots
#
# **Claim.** Each observable parts its own fault from a healthy run, and is blind to the other four. That is why one
# number never suffices, and why a diagnosis that has looked at one thing only is a guess.


# %% tags=["claim-9.2"]
def pulled_not_moved(run):
    """Number of tensors with a gradient other than zero at the start that a pass does not move."""
    return sum(g is not None and g > 0 and change == 0 for g, change in movement(run).values())


def growth(run):
    """Loss on batch 0 after 30 updates on it, over the loss before."""
    losses = descent(run, run.lr())
    return losses[-1] / losses[0]


suspicions = {
    "nonfinite cells": lambda run: sum(nonfinite_cells(run)) > 0,
    "pulled, not moved": lambda run: pulled_not_moved(run) > 0,
    "loss grows": lambda run: growth(run) > 1,
    "gradient adds up": lambda run: repeated(run)[1] > 1,
    "targets not the catalog's": lambda run: sum(mismatches(run)) > 0,
}
print(" " * 26 + "A  B  C  D  E  F  G")
for (title, stands), own in zip(suspicions.items(), "ABCDE"):
    seen = {name: stands(open_run(name)) for name in "ABCDEFG"}
    print(f"{title:26s}" + "  ".join("x" if seen[name] else "." for name in seen))
    assert [name for name in seen if seen[name]] == [own]


# %% tags=["claim-9.2"]
def plot_observables():
    """One panel a fault: its observable on the broken run and on a healthy one."""
    panels = (
        ("nonfinite cells", "batch", nonfinite_cells, "AF"),
        ("pulled, not moved", "", lambda run: [pulled_not_moved(run)], "BF"),
        ("loss on batch 0", "update", lambda run: descent(run, run.lr(), 12), "CF"),
        ("gradient used / first", "update", repeated, "DG"),
        ("targets not catalog's", "batch", mismatches, "EF"),
    )
    fig, axes = plt.subplots(1, 5, figsize=(9.6, 2.7))
    values = {}
    for axis, (title, xlabel, observe, names) in zip(axes, panels):
        values[title] = [observe(open_run(name)) for name in names]
        for numbers, name, style in zip(values[title], names, ("x--", "o-")):
            word = "healthy" if style == "o-" else "broken"
            axis.plot(numbers, style, markersize=5, label=f"{name}, {word}")
        axis.set_title(title, fontsize=9)
        axis.set_xlabel(xlabel, fontsize=8)
        axis.tick_params(labelsize=7)
        axis.legend(fontsize=7)
    axes[1].set_xticks([])
    axes[2].set_yscale("log")
    fig.tight_layout()
    plt.show()
    return values


for title, (broken, healthy) in plot_observables().items():
    print(f"{title:23s} largest on the broken run {max(broken):5.1f}   on the healthy one {max(healthy):4.1f}")
    assert max(broken) > max(healthy)

# %% [markdown]
# *Crosses, dashed: the broken run. Dots, solid: a healthy one. In the third panel the broken run looks better for six
# updates.*
#
# ## Probe before you write
#
# Choose a run and an intervention and watch two observables of batch 0: its loss, and the norm of the gradient that
# each update uses. Run H has not been mentioned yet. What is wrong with it, if anything?


# %%
def probe(name="D", updates=20, rate=1.0, clear=False, catalog=False):
    """Updates on batch 0 at `rate` times the run's own rate, with gradients cleared or targets joined on request."""
    run = open_run(name)
    if catalog:
        for i in range(run.batches()):
            run.edit(run.batch(i)["ids"], targets=run.catalog(run.batch(i)["ids"]))
    start, losses, norms = run.parameters(), [], []
    for _ in range(updates):
        if clear:
            run.zero_grad()
        losses.append(run.step(0, lr=rate * run.lr()))
        norms.append(size(run.gradients()))
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.8))
    left.plot(losses, "o-", markersize=3)
    left.set(title=f"run {name}: loss on batch 0", xlabel="update", yscale="log")
    right.plot(norms, "s--", markersize=3)
    right.set(title="gradient that the update uses", xlabel="update", ylim=(0, None))
    fig.tight_layout()
    plt.show()
    unmoved = [n for n, p in run.parameters().items() if torch.equal(p, start[n])]
    print("not moved:", ", ".join(unmoved) or "none")
    print("nonfinite cells:", sum(nonfinite_cells(run)), "  targets not the catalog's:", sum(mismatches(run)))


probe()

# %% [markdown]
# *Left: the loss of run D on one batch falls, rises and falls again. Right: the gradient that its updates use grows
# while the loss falls. Tick `clear` below, and compare.*

# %% tags=["widget", "nbval-skip"]
import ipywidgets

_ = ipywidgets.interact(
    probe,
    name=list("ABCDEFGH"),
    updates=ipywidgets.IntSlider(value=20, min=1, max=60),
    rate=ipywidgets.FloatLogSlider(value=1.0, base=10, min=-2, max=1, step=0.25, description="times rate"),
)

# %% [markdown]
# {{exercise 9.2}}
#
# Write `diagnose`: name the fault of a run that you have never seen, or call it healthy, and give the observable and
# the falsifying control as measured. Diagnosis, observable and control are scored apart; evidence counts for right
# diagnoses, and a false alarm costs as much as a miss. Each number starts from `reset()`:
#
# | fault | observable `value` (and `ids`) | control `value` |
# |---|---|---|
# | `"nan input"` | number of nonfinite input cells in all batches (ids of their examples) | loss on the first batch that has such cells, with those cells set to 0 |
# | `"wrong parameter"` | norm of the gradient of batch 0 at the start, over the tensors that have a gradient other than zero in the first pass and do not move in it (their names) | loss on batch 0 after minus before moving just those tensors by hand, by minus rate times that gradient |
# | `"learning rate"` | loss on batch 0 after 30 updates on batch 0, divided by the loss before them: above 1 | the same at a tenth of the run's rate: below 1 |
# | `"zero_grad"` | norm, over all tensors, of the gradient that the second of two updates on batch 0 at rate 0 uses | the same with all gradients cleared between the two |
# | `"wrong labels"` | fraction of all examples whose target is not the catalog's (their ids) | held-out loss after two passes in order with the catalog's targets |
# | `"healthy"` | held-out loss after two passes in order | the same after each batch's targets were moved on by one place (`roll(1)`) |
#
# A run has at most one fault. Two passes in order are `step(0)`, `step(1)`, … twice; `ids` is empty where the table
# names none.


# %% nbgrader={"grade_id": "diagnose", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def diagnose(run) -> dict:
    """Name a run's fault, with the observable that shows it and the control that would refute it.

    run: asked as in the table at the top of this notebook (`run.batch(0)`, `run.step(0, lr=0.0)`, ...).
    Returns {"fault": str, "observable": {"value": float, "ids": list}, "control": {"value": float}}:
        fault: "healthy", "nan input", "wrong parameter", "learning rate", "zero_grad" or "wrong labels".
        observable, control: the numbers that the table above names for that fault, each from reset().
        ids: example ids (ints) or tensor names (strings) in any order; [] where the table names none.
    Numbers are compared with a relative tolerance of 0.2 %.
    Example: {"fault": "zero_grad", "observable": {"value": 2.84, "ids": []}, "control": {"value": 1.42}}
    """
    ### BEGIN SOLUTION
    count = run.batches()
    epoch = [run.batch(i) for i in range(count)]
    ids, targets = torch.cat([b["ids"] for b in epoch]), torch.cat([b["targets"] for b in epoch])

    def found(fault, value, control, names=()):
        return {"fault": fault, "observable": {"value": value, "ids": list(names)}, "control": {"value": control}}

    def norm(tensors):
        return sum(t.square().sum().item() for t in tensors if t is not None) ** 0.5

    def trained():
        for i in [*range(count), *range(count)]:
            run.step(i)
        return run.score()

    def growth(rate):
        run.reset()
        start = run.loss(0)
        for _ in range(30):
            run.step(0, lr=rate)
        return run.loss(0) / start

    # the data first: finite, and joined by id
    bad = torch.cat([~b["inputs"].isfinite() for b in epoch])
    if bad.any():
        first = next(i for i, b in enumerate(epoch) if not b["inputs"].isfinite().all())
        run.edit(epoch[first]["ids"], inputs=epoch[first]["inputs"].nan_to_num(0.0, 0.0, 0.0))
        return found("nan input", float(bad.sum()), run.loss(first), ids[bad.any(dim=1)].tolist())
    apart = targets != run.catalog(ids)
    if apart.any():
        run.edit(ids, targets=run.catalog(ids))
        return found("wrong labels", int(apart.sum()) / len(ids), trained(), ids[apart].tolist())

    # then one update: which gradient does it use?
    run.step(0, lr=0.0)
    run.step(0, lr=0.0)
    second = norm(run.gradients().values())
    run.zero_grad()
    run.step(0, lr=0.0)
    cleared = norm(run.gradients().values())
    if second > 1.01 * cleared:
        return found("zero_grad", second, cleared)

    # then a pass: what has a gradient and does not move?
    run.reset()
    start, pulled = run.parameters(), set()
    for i in range(count):
        run.step(i)
        pulled |= {name for name, g in run.gradients().items() if g is not None and g.any()}
    end = run.parameters()
    still = [name for name in start if name in pulled and torch.equal(start[name], end[name])]
    if still:
        run.reset()
        before, gradients = run.backward(0), run.gradients()
        run.assign({name: start[name] - run.lr() * gradients[name] for name in still})
        return found("wrong parameter", norm(gradients[n] for n in still), run.loss(0) - before, still)

    # then the rate against the curvature
    own, tenth = growth(run.lr()), growth(run.lr() / 10)
    if own > 1 > tenth:
        return found("learning rate", own, tenth)

    # no suspicion stands: does it learn the task, or would it learn anything?
    run.reset()
    learned = trained()
    run.reset()
    for b in epoch:
        run.edit(b["ids"], targets=b["targets"].roll(1))
    return found("healthy", learned, trained())
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-9-2", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("9.2", diagnose)
### BEGIN HIDDEN TESTS
check("9.2", diagnose, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## Five short questions
#
# <!-- Q1 to Q5 (claim 9.1) belong here -->
