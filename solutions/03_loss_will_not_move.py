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
# # 03 · The loss will not move
#
# No error, no NaN, and a flat line. Between the loss and a weight that changes lies a chain, and one broken link is
# enough:
#
# loss → graph → registered parameter → optimizer's groups → gradient → step → changed value
#
# Beside it runs a second one: the input and the label of a row come from the same example. This notebook gives each
# link an **observable**, a number that is read off instead of guessed. Section 3.3, the audit that you write, needs
# all of them and therefore comes after 3.9.
#
# Four beliefs meet a measurement on the way. Which of them do you hold?
#
# 1. A loss of log C means that the model predicts all classes alike. (3.2)
# 2. `requires_grad=False` on its parameters freezes a layer. (3.4)
# 3. Where a gradient is zero, nothing moves. (3.4)
# 4. A tensor that receives gradients is being trained. (3.5)

# %% tags=["setup"] nbgrader={"grade_id": "setup-03", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, explore, hint, solution

# %matplotlib inline
torch.set_num_threads(1)
torch.manual_seed(0)
plt.rcParams.update({"figure.figsize": (6.4, 3.2), "figure.dpi": 90, "axes.grid": True, "grid.alpha": 0.3})

# %% [markdown]
# ## 3.1 Zero logits: a unit test of the loss
#
# **Claim.** Equal probabilities over C classes cost log C, in natural logarithms: 2.302585 for ten classes. Zero
# logits make the probabilities equal whatever the model is, so they test the loss and nothing else.
#
# **Control.** Three losses with a mistake in them must miss log C.

# %% tags=["claim-3.1"]
for C in (2, 3, 10, 1000):
    loss = F.cross_entropy(torch.zeros(12, C), torch.arange(12) % C).item()
    print(f"C = {C:4d}   loss {loss:.5f}   log C {math.log(C):.5f}")
    assert abs(loss - math.log(C)) < 1e-6

B, C = 12, 10
zeros, targets = torch.zeros(B, C), torch.arange(B) % C
broken = {
    "softmax over the batch": F.nll_loss(zeros.log_softmax(dim=0), targets),
    "sum instead of mean": F.cross_entropy(zeros, targets, reduction="sum"),
    "logarithm to base 2": F.cross_entropy(zeros, targets) / math.log(2),
}
print()
for name, loss in broken.items():
    print(f"{name:23s} {loss.item():8.4f}   misses log C: {abs(loss.item() - math.log(C)) > 0.1}")
    assert abs(loss.item() - math.log(C)) > 0.1

# %% [markdown]
# **What the test can't see.** A softmax before the loss, one too many, keeps equal probabilities equal. Zero logits
# pass; confident and correct logits tell.

# %% tags=["claim-3.1"]
sure = 20.0 * F.one_hot(targets, C)
for name, logits in (("zero logits", zeros), ("confident, correct logits", sure)):
    once, twice = F.cross_entropy(logits, targets), F.cross_entropy(logits.softmax(1), targets)
    print(f"{name:26s} loss {once.item():.4f}   with an extra softmax {twice.item():.4f}")
assert abs(F.cross_entropy(zeros.softmax(1), targets).item() - math.log(C)) < 1e-6
assert F.cross_entropy(sure, targets) < 1e-4 < 1 < F.cross_entropy(sure.softmax(1), targets)

# %% [markdown]
# ## 3.2 The converse is false
#
# **Claim.** A fresh network need not start at log C, and starting elsewhere is no fault. The logits of a default
# linear layer grow with the scale of its inputs, and the loss at step 0 grows with them.
#
# **Control.** If a start above log C were a broken network, it would not train. All of these do. At scale 0 the
# loss is log C to rounding.

# %% tags=["claim-3.2"]
def task(scale, rows=60, classes=10, features=20):
    """Features around one center a class, and their labels; `scale` multiplies the features."""
    g = torch.Generator().manual_seed(5)
    labels = torch.arange(rows) % classes
    centers = torch.randn(classes, features, generator=g)
    return scale * (centers[labels] + 0.3 * torch.randn(rows, features, generator=g)), labels


def losses_of(layer, x, y, lr, steps):
    """Train by SGD; the loss before each step and after the last one."""
    optimizer = torch.optim.SGD(layer.parameters(), lr=lr)
    record = []
    for _ in range(steps):
        loss = F.cross_entropy(layer(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record.append(loss.item())
    return record + [F.cross_entropy(layer(x), y).item()]


starts = {}
for scale in (0.0, 1.0, 5.0, 20.0):
    torch.manual_seed(1)
    layer = nn.Linear(20, 10)
    nn.init.zeros_(layer.bias)
    x, y = task(scale)
    record = losses_of(layer, x, y, lr=1.0 / max(scale, 1.0) ** 2, steps=200)
    starts[scale] = record[0]
    print(f"scale {scale:4g}   loss at step 0: {record[0]:6.2f}   after 200 steps: {record[-1]:.2f}")
    assert scale == 0 or record[-1] < 0.1
assert abs(starts[0.0] - math.log(10)) < 1e-6
assert starts[0.0] + 0.05 < starts[1.0] and starts[5.0] > 3 and starts[20.0] > 10

# %% [markdown]
# **Claim.** A loss of log C does not say that the predictions are uniform: the mean hides who paid what. The run
# below starts with confident, wrong predictions. On its way down the loss passes log C, and nothing about the
# predictions is uniform there.
#
# **Control.** The same measure, the largest probability of a row averaged over the rows, on zero logits: 1/C.

# %% tags=["claim-3.2"]
def descent_from(scale, steps=120):
    """Loss and mean largest probability at each step, from a start whose logits are `scale` times too sure."""
    x, y = task(1.0)
    torch.manual_seed(2)
    layer = nn.Linear(20, 10)
    with torch.no_grad():
        layer.weight.mul_(scale)
        layer.bias.zero_()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    losses, largest = [], []
    for _ in range(steps):
        logits = layer(x)
        loss = F.cross_entropy(logits, y)
        losses.append(loss.item())
        largest.append(logits.softmax(1).amax(1).mean().item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses, largest


def plot_descent(scale=10.0):
    losses, largest = descent_from(scale)
    crossing = next((i for i, loss in enumerate(losses) if loss <= math.log(10)), len(losses) - 1)
    fig, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(6.4, 3.8))
    top.plot(losses, "-", label="mean loss")
    top.axhline(math.log(10), ls="--", color="0.3", label="log 10")
    top.plot(crossing, losses[crossing], "s", color="k", label=f"first at or below log 10: step {crossing}")
    top.set(ylabel="cross entropy")
    bottom.plot(largest, "-.", color="tab:orange", label="largest probability, mean of rows")
    bottom.axhline(0.1, ls=":", color="0.3", label="uniform: 1/10")
    bottom.plot(crossing, largest[crossing], "s", color="k")
    bottom.set(xlabel="step", ylabel="probability", ylim=(0, 1.05))
    for ax in (top, bottom):
        ax.legend(fontsize=8)
    plt.show()


plot_descent()
losses, largest = descent_from(10.0)
crossing = next(i for i, loss in enumerate(losses) if loss <= math.log(10))
uniform = zeros.softmax(1).amax(1).mean().item()
print(f"largest probability where the loss passes log 10: {largest[crossing]:.1f}; on zero logits: {uniform:.1f}")
assert losses[0] > 2 * math.log(10) and 0 < crossing < len(losses) - 1
assert largest[crossing] > 0.5
assert abs(uniform - 0.1) < 1e-6

# %% [markdown]
# *Above: the loss falls through log 10 (dashed). Below: at that moment (square) the largest probability of a row is
# far from the 1/10 (dotted) of a uniform prediction.*

# %% tags=["widget", "nbval-skip"]
explore(plot_descent, {"scale": "start scale"}, scale=(0, 20, 1))

# %% [markdown]
# {{exercise 3.2}}
#
# No training needed: build such logits on paper, for any targets. How much of each row does the loss look at?


# %% nbgrader={"grade_id": "nonuniform-logits", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def nonuniform_logits(targets: torch.Tensor, classes: int) -> torch.Tensor:
    """Logits that are clearly not uniform, and whose mean cross entropy is log(classes) all the same.

    targets: int64 tensor of shape (B,), each from 0 to classes - 1.
    classes: C, at least 2. B is at least 1 for C > 2, and at least 2 for C = 2 (one row of two
        classes has no other solution than the uniform one).

    Returns a finite float32 or float64 tensor of shape (B, C) with
        abs(F.cross_entropy(logits, targets) - log(C)) <= 1e-5, and
        logits.softmax(1).amax(1).mean() >= 1.2 / C (uniform rows have exactly 1 / C).

    Example: for targets tensor([0, 1, 1]) and classes 4 the result has shape (3, 4) and mean loss 1.386294.
    """
    ### BEGIN SOLUTION
    rows = torch.arange(len(targets))
    if classes > 2:  # 1/C for the target; of the rest, most goes to its neighbor
        p = torch.full((len(targets), classes), 0.2 * (1 - 1 / classes) / (classes - 2))
        p[rows, (targets + 1) % classes] = 0.8 * (1 - 1 / classes)
        p[rows, targets] = 1 / classes
        return p.log()
    # two classes: some rows pay more than log 2, the others as much less in sum
    dear = (len(targets) + 1) // 2
    cheap = len(targets) - dear
    log_p = torch.full((len(targets),), math.log(0.4))
    log_p[dear:] = -(len(targets) * math.log(2) + dear * math.log(0.4)) / cheap
    logits = torch.empty(len(targets), 2)
    logits[rows, targets] = log_p
    logits[rows, 1 - targets] = torch.log1p(-log_p.exp())
    return logits
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-3-2", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("3.2", nonuniform_logits)
### BEGIN HIDDEN TESTS
check("3.2", nonuniform_logits, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 3.4 No gradient, a small gradient, a zero gradient
#
# Three observations that are often taken for one another.
#
# **Claim.** `grad is None` may be as it should: a frozen layer asks for no gradient, and a branch that this batch
# does not use is not reached by backward. **Control.** A batch that does use the branch gives it a gradient.

# %% tags=["claim-3.4"]
torch.manual_seed(3)
trunk, left, right = nn.Linear(4, 6).requires_grad_(False), nn.Linear(6, 3), nn.Linear(6, 3)
x, y = torch.randn(8, 4), torch.arange(8) % 3
observed = {}
for used, head in (("left", left), ("right", right)):
    for layer in (trunk, left, right):
        layer.zero_grad(set_to_none=True)
    F.cross_entropy(head(trunk(x).relu()), y).backward()
    observed[used] = {
        name: layer.weight.grad is not None
        for name, layer in (("trunk (frozen)", trunk), ("left", left), ("right", right))
    }
    print(f"batch through the {used} head; has a gradient: {observed[used]}")
assert list(observed["left"].values()) == [False, True, False]
assert list(observed["right"].values()) == [False, False, True]

# %% [markdown]
# **Claim.** A small gradient is not a dead layer, since its size depends on units. Distances in kilometers instead
# of meters, weights adjusted: the same function, the same loss, and a gradient a thousand times smaller.
# **Control.** A layer that *is* dead, behind a ReLU that lets nothing through, has a gradient of exactly 0 in either
# unit.

# %% tags=["claim-3.4"]
def gradient_in(unit, dead=False):
    """Loss and largest |gradient| of the first layer, with inputs given in `unit` meters."""
    torch.manual_seed(4)
    meters = 100 * torch.randn(16, 3)
    first, second = nn.Linear(3, 8), nn.Linear(8, 2)
    with torch.no_grad():
        first.weight.mul_(0.01 * unit)  # undoes the change of unit
        if dead:
            first.bias.fill_(-1000.0)
    loss = F.cross_entropy(second(first(meters / unit).relu()), torch.arange(16) % 2)
    loss.backward()
    return loss.item(), first.weight.grad.abs().max().item()


in_m, in_km, gone = gradient_in(1), gradient_in(1000), gradient_in(1, dead=True)
gone_km = gradient_in(1000, dead=True)
print(f"meters, kilometers: losses agree: {abs(in_m[0] - in_km[0]) < 1e-5}, "
      f"gradients differ {in_m[1] / in_km[1]:.0f}-fold")
print("dead layer, gradient in meters and in kilometers:", gone[1], gone_km[1])
assert abs(in_m[0] - in_km[0]) < 1e-5 and abs(in_m[1] / in_km[1] - 1000) < 0.5
assert in_km[1] > 0 and gone[1] == gone_km[1] == 0.0

# %% [markdown]
# **Claim.** A gradient of zero does not mean that nothing moves. Adam remembers earlier gradients, and weight decay
# needs none. **Control.** With a fresh optimizer and no decay a zero gradient moves nothing; a gradient of `None`
# makes any of these optimizers pass the parameter by.

# %% tags=["claim-3.4"]
def movement(optimizer_class, past_steps, last, **options):
    """How far p moves in a step whose gradient is `last`, after some steps with gradient 1."""
    p = nn.Parameter(torch.tensor(2.0))
    optimizer = optimizer_class([p], lr=0.1, **options)
    for _ in range(past_steps):
        p.grad = torch.tensor(1.0)
        optimizer.step()
    p.grad = last
    before = p.item()
    optimizer.step()
    return p.item() - before


zero = torch.tensor(0.0)
moves = {
    "Adam with a past, gradient 0": movement(torch.optim.Adam, 3, zero),
    "SGD with weight decay, gradient 0": movement(torch.optim.SGD, 0, zero, weight_decay=0.5),
    "fresh Adam, gradient 0": movement(torch.optim.Adam, 0, zero),
    "SGD without decay, gradient 0": movement(torch.optim.SGD, 0, zero),
    "Adam with a past, gradient None": movement(torch.optim.Adam, 3, None),
    "SGD with weight decay, gradient None": movement(torch.optim.SGD, 0, None, weight_decay=0.5),
}
for name, size in moves.items():
    print(f"{name:38s} moves by {size:+.3f}")
assert [abs(size) > 0.01 for size in moves.values()] == [True, True, False, False, False, False]
assert list(moves.values())[2:] == [0.0] * 4

# %% [markdown]
# **Claim.** `requires_grad=False` on every parameter does not freeze a network with batch norm: its running
# statistics are buffers, the *forward* pass writes them, and the loss moves with them. That looks like slow
# learning. **Control.** In `eval()` mode the same passes leave the loss as it was, bit for bit.

# %% tags=["claim-3.4"]
def frozen_run(training, passes=20):
    """Evaluation losses before and after some passes through a network without trainable parameters."""
    torch.manual_seed(6)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)).requires_grad_(False)
    x, y = 2 + torch.randn(32, 4), torch.arange(32) % 2
    model.eval()
    first = F.cross_entropy(model(x), y).item()
    parameters = [p.clone() for p in model.parameters()]
    model.train(training)
    for _ in range(passes):
        model(x)
    model.eval()
    same = all(torch.equal(a, b) for a, b in zip(parameters, model.parameters()))
    return first, F.cross_entropy(model(x), y).item(), same, model[1].running_mean.norm().item()


for training in (True, False):
    first, last, same, norm = frozen_run(training)
    print(f"train mode {training!s:5}: parameters unchanged {same}, loss unchanged {first == last}, "
          f"|running mean| {norm:.1f}")
    assert same and (first == last) is (not training) and (norm > 0.5) is training
assert abs(frozen_run(True)[0] - frozen_run(True)[1]) > 0.01

# %% [markdown]
# ## 3.5 A gradient, and yet no training
#
# **Claim.** A tensor that the module does not list can receive gradients and still never be stepped: the optimizer
# was given `model.parameters()`, and it is not among them. The usual ways there: a plain tensor instead of an
# `nn.Parameter`, or layers kept in a Python list.
#
# **Control.** The same layer with `nn.ModuleList` instead of a list.

# %% tags=["claim-3.5"]
class Stack(nn.Module):
    """Two hidden layers, held by a list or by a ModuleList, and a head."""

    def __init__(self, holder):
        super().__init__()
        self.layers = holder([nn.Linear(4, 8), nn.Linear(8, 8)])
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return self.head(x)


def one_step(holder):
    torch.manual_seed(7)
    model = Stack(holder)
    hidden = model.layers[0].weight
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    x, y = torch.randn(12, 4), torch.arange(12) % 3
    before = hidden.detach().clone()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    return {
        "listed tensors": len(list(model.parameters())),
        "gradient": bool(hidden.grad.abs().max() > 1e-3),
        "in the state dict": any("layers" in name for name in model.state_dict()),
        "moved": not torch.equal(hidden, before),
    }


as_list, as_modules = one_step(list), one_step(nn.ModuleList)
print("Python list:", as_list)
print("ModuleList: ", as_modules)
assert as_list == {"listed tensors": 2, "gradient": True, "in the state dict": False, "moved": False}
assert as_modules == {"listed tensors": 6, "gradient": True, "in the state dict": True, "moved": True}

# %% [markdown]
# ## 3.6 The optimizer holds another parameter
#
# **Claim.** With p = 2 and loss p·p the gradient is 4, and p stays 2, if the optimizer was given another parameter.
# Equal values are not enough; the *object* counts. **Control.** The optimizer that holds p moves it to 2 - 0.1 · 4.

# %% tags=["claim-3.6"]
p, q = nn.Parameter(torch.tensor(2.0)), nn.Parameter(torch.tensor(2.0))
for held in (q, p):
    p.grad = None
    optimizer = torch.optim.SGD([held], lr=0.1)
    (p * p).backward()
    before = p.item()
    optimizer.step()
    same = optimizer.param_groups[0]["params"][0] is p
    print(f"optimizer holds p: {same!s:5}   gradient {p.grad.item():.1f}   p before {before:.1f}, after {p.item():.1f}")
    assert p.grad.item() == 4.0 and (p.item() == before) is (not same)
assert abs(p.item() - 1.6) < 1e-6 and q.item() == 2.0

# %% [markdown]
# ## 3.7 It moves, the wrong way
#
# **Claim.** On L(w) = a w²/2 a step of SGD multiplies w by 1 - rate · a. With rate · a = 3 the factor is -2, and
# eight steps from 1 end at magnitude 256. A loss that grows is a chain that is whole, with a rate too large for it.
# **Control.** rate · a = 1.5 has factor -1/2 and ends at 1/256.

# %% tags=["claim-3.7"]
def walk(rate, a, steps=8):
    """w after some steps: by the recurrence, and by torch."""
    by_hand, w = 1.0, nn.Parameter(torch.tensor(1.0))
    optimizer = torch.optim.SGD([w], lr=rate)
    for _ in range(steps):
        by_hand = (1 - rate * a) * by_hand
        optimizer.zero_grad()
        (a * w * w / 2).backward()
        optimizer.step()
    return by_hand, w.item()


for rate, a in ((1.5, 2.0), (0.75, 2.0)):
    by_hand, by_torch = walk(rate, a)
    print(f"rate x curvature {rate * a:g}: recurrence {by_hand:.6g}, torch {by_torch:.6g}")
    assert by_hand == by_torch
assert abs(walk(1.5, 2.0)[1]) == 256.0 and abs(walk(0.75, 2.0)[1]) == 1 / 256

# %% [markdown]
# ## 3.8 The gradient of two steps
#
# **Claim.** `backward` adds to what is there. At p = 2 the gradient of p·p is 4; a second backward pass without
# zeroing makes it 8, although each pass built a new graph. **Control.** Zeroed in between, it stays 4.

# %% tags=["claim-3.8"]
for zeroed in (False, True):
    p = nn.Parameter(torch.tensor(2.0))
    seen = []
    for _ in range(2):
        if zeroed:
            p.grad = None
        (p * p).backward()
        seen.append(p.grad.item())
    print(f"zeroed in between: {zeroed!s:5}   gradients {seen}")
    assert seen == ([4.0, 4.0] if zeroed else [4.0, 8.0])

# %% [markdown]
# ## 3.9 Five ways to stand still
#
# **Claim.** A rate of zero, another optimizer instance, a stale checkpoint that is loaded again and again, an update
# below the spacing of the dtype, and a step that is left out: each stops the change with a good gradient in place.
# Seen from the loss they are one. Five observables tell them apart.
#
# **Control.** The healthy run beside them, which differs from each in one thing and moves.

# %% tags=["claim-3.9"]
def stand_still(fault):
    """Three updates of p under one fault; what can be observed afterwards, in the order of the header below."""
    dtype = torch.bfloat16 if fault == "underflow" else torch.float32
    p = nn.Parameter(torch.tensor([1.0, -0.5], dtype=dtype))
    twin = nn.Parameter(p.detach().clone())
    rate = 0.0 if fault == "zero rate" else 1e-4
    optimizer = torch.optim.SGD([twin if fault == "another instance" else p], lr=rate, momentum=0.5)
    checkpoint, by_step = p.detach().clone(), False
    for _ in range(3):
        before = p.detach().clone()
        p.grad = None
        (p * p).sum().backward()
        if fault != "omitted step":
            optimizer.step()
        by_step = by_step or not torch.equal(p, before)
        if fault == "stale reload":
            with torch.no_grad():
                p.copy_(checkpoint)
    group = optimizer.param_groups[0]
    return (
        bool(p.grad.abs().min() > 0),
        any(p is held for held in group["params"]),
        group["lr"] > 0,
        len(optimizer.state) > 0,
        by_step,
        not torch.equal(p, checkpoint),
    )


columns = ("gradient", "in groups", "rate > 0", "has stepped", "moved by step", "moved at end")
faults = ("healthy", "zero rate", "another instance", "stale reload", "underflow", "omitted step")
table = {fault: stand_still(fault) for fault in faults}
print(f"{'':17s}" + "  ".join(columns))
for fault, row in table.items():
    print(f"{fault:17s}" + "  ".join(f"{'yes' if seen else 'NO':>{len(c)}s}" for c, seen in zip(columns, row)))
assert all(table["healthy"])
assert all(row[0] and not row[-1] for fault, row in table.items() if fault != "healthy")
assert len(set(table.values())) == len(faults)  # no two of them look alike
# underflow has no "NO" of its own before the step: its own observable is update against spacing
update, spacing = 1e-4 * 2.0, torch.finfo(torch.bfloat16).eps / 2
print(f"\nunderflow: update {update:.4f}, half the spacing below 1 {spacing / 2:.4f}")
assert update < spacing / 2 and torch.finfo(torch.float32).eps < update

# %% [markdown]
# ## 3.3 Which parameters moved?
#
# One step, two numbers for each parameter: the size of its gradient and the size of its change relative to its
# value. Look at both: a row that is empty in one and full in the other is where the chain broke.


# %% tags=["claim-3.3"]
FAULTS = ("healthy", "frozen trunk", "head replaced late", "plain tensor", "dead ReLU", "dead ReLU, decay")


def strip(fault):
    """Names, largest |gradient| (nan for None) and relative change of each tensor in one step."""
    torch.manual_seed(8)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    x, y = torch.randn(12, 4), torch.arange(12) % 3
    if fault == "frozen trunk":
        model[0].requires_grad_(False)
    if fault == "plain tensor":
        value = model[2].weight.detach().clone().requires_grad_()
        del model[2].weight
        model[2].weight = value
    if fault.startswith("dead ReLU"):
        nn.init.constant_(model[2].bias, -100.0)
    decay = 0.1 if fault.endswith("decay") else 0.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, weight_decay=decay)
    if fault == "head replaced late":
        model[4] = nn.Linear(8, 3)
    watched = {f"{i}.{part}": getattr(model[i], part) for i in (0, 2, 4) for part in ("weight", "bias")}
    old = {name: t.detach().clone() for name, t in watched.items()}
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    sizes = [math.nan if t.grad is None else t.grad.abs().max().item() for t in watched.values()]
    changes = [((t - old[name]).norm() / old[name].norm()).item() for name, t in watched.items()]
    return list(watched), sizes, changes


def plot_strip(fault="healthy"):
    names, sizes, changes = strip(fault)
    fig, ax = plt.subplots(figsize=(6.4, 2.2))
    ax.grid(False)
    for row, values in enumerate((sizes, changes)):
        for column, value in enumerate(values):
            shade = 0.0 if not value > 0 else min(1.0, max(0.15, 1 + math.log10(value) / 4))
            still = not value > 0
            ax.add_patch(plt.Rectangle((column, 1 - row), 1, 1, fc=plt.cm.Blues(0.7 * shade), ec="k",
                                       hatch="///" if still else None, lw=0.8))
            label = "None" if math.isnan(value) else "0" if value == 0 else f"{value:.0e}"
            ax.text(column + 0.5, 1.5 - row, label, ha="center", va="center", fontsize=9,
                    bbox={"fc": "white", "ec": "none", "pad": 1})
    ax.set(xlim=(0, len(names)), ylim=(0, 2), xticks=[i + 0.5 for i in range(len(names))], xticklabels=names,
           yticks=[1.5, 0.5], yticklabels=["max |gradient|", "relative change"], title=fault)
    plt.tight_layout()
    plt.show()


plot_strip("plain tensor")
names, sizes, changes = strip("plain tensor")
assert all(size > 0 for size in sizes)
assert [name for name, change in zip(names, changes) if not change > 0] == ["2.weight"]

# %% [markdown]
# *One training step of a three-layer network. Darker means larger; hatched fields are exactly zero, or have no
# gradient. The weight of layer 2 is a plain tensor here: a gradient above, no change below.*
#
# **Control.** The same picture in numbers for every fault, and for the healthy network in which nothing is empty.

# %% tags=["claim-3.3"]
for fault in FAULTS:
    names, sizes, changes = strip(fault)
    empty = [name for name, size in zip(names, sizes) if not size > 0]
    still = [name for name, change in zip(names, changes) if not change > 0]
    print(f"{fault:19s} no or zero gradient: {', '.join(empty) or '-'}")
    print(f"{'':19s} did not move:        {', '.join(still) or '-'}")
    if fault == "healthy":
        assert not empty and not still
    if fault == "frozen trunk":
        assert empty == still == ["0.weight", "0.bias"]
    if fault == "head replaced late":
        assert not empty and still == ["4.weight", "4.bias"]
    if fault == "dead ReLU":
        assert len(empty) == 5 and still == empty
    if fault == "dead ReLU, decay":
        assert len(empty) == 5 and not still

# %% tags=["widget", "nbval-skip"]
explore(plot_strip, fault=list(FAULTS))

# %% [markdown]
# ## 3.3 The other chain: pairs
#
# **Claim.** Inputs and labels that were shuffled apart from each other fit just as well; the loss can't tell. What
# tells is the **id** of the example on each side. **Control.** One permutation for both: the same final loss, and
# ids that agree row by row.

# %% tags=["claim-3.3"]
def shuffled_fit(together):
    """Final loss on the pairs as supplied, and the fraction of rows whose two ids agree."""
    torch.manual_seed(9)
    x, y, ids = torch.randn(24, 30), torch.arange(24) % 3, torch.arange(24)
    one = torch.randperm(24)
    two = one if together else torch.randperm(24)
    layer = nn.Linear(30, 3)
    final = losses_of(layer, x[one], y[two], lr=0.5, steps=300)[-1]
    return final, (ids[one] == ids[two]).float().mean().item(), layer(x).argmax(1).eq(y).float().mean().item()


for together in (True, False):
    final, agree, true_accuracy = shuffled_fit(together)
    print(f"one permutation for both: {together!s:5}   final loss below 0.05: {final < 0.05}   "
          f"ids agree {agree:4.0%}   right by the true labels {true_accuracy:4.0%}")
    assert final < 0.05 and (agree == 1.0) is together and (true_accuracy > 0.8) is together

# %% [markdown]
# {{exercise 3.3}}
#
# Every link now has an observable. Put them in one audit: take **one** training step on what you are given, and
# name for each tensor the first link that is broken. An audit that accuses a healthy network costs as much as one
# that misses a fault: the score counts decisions, and answering the same for everything earns nothing.


# %% nbgrader={"grade_id": "audit-chain", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def audit_chain(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: torch.Tensor,
    y: torch.Tensor,
    x_ids: torch.Tensor,
    y_ids: torch.Tensor,
    tensors: dict[str, torch.Tensor],
    resting: set[str],
) -> tuple[dict[str, str], bool]:
    """Take one training step and find the first broken link of each tensor.

    model, optimizer: as somebody set them up; yours to use, the originals are kept elsewhere.
        No gradients are stored in them. Leave the model's mode as it is.
    x, y: one batch; the loss is F.cross_entropy(model(x), y), y int64 of shape (B,).
    x_ids, y_ids: int64 of shape (B,): the example from which each row of x, and of y, was taken.
        An example may be drawn twice.
    tensors: what to audit, by name: these very objects take part in the model, or were meant to.
        Some are not registered, and one tensor may have two names.
    resting: names that this step is meant to leave alone: frozen, or of a branch not used.

    Returns (findings, paired). findings has one string for each name in tensors.
    For a name in resting: "moved" if the step changed any of its values, else "ok", whatever else is true of it.
    For any other name the first of these that applies, else "ok":
        "no graph"          it does not require a gradient, or backward did not reach it (perhaps there
                            is nothing at all for backward to do: that is a finding, not a crash)
        "not registered"    model.parameters() does not give this very object
        "not in optimizer"  no parameter group of the optimizer holds this very object
        "bad gradient"      its gradient has an entry that is not finite, or is zero throughout
        "not moved"         the step left every one of its values exactly as it was
    paired: True if each row's input and label come from the same example, else False (a Python bool).

    Example: a healthy nn.Linear gives ({"weight": "ok", "bias": "ok"}, True).
    """
    ### BEGIN SOLUTION
    registered = {id(p) for p in model.parameters()}
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    before = {name: t.detach().clone() for name, t in tensors.items()}
    loss = F.cross_entropy(model(x), y)
    if loss.requires_grad:
        loss.backward()
    optimizer.step()

    def finding(name, t):
        moved = not torch.equal(t, before[name])
        if name in resting:
            return "moved" if moved else "ok"
        if t.grad is None:
            return "no graph"
        if id(t) not in registered:
            return "not registered"
        if id(t) not in held:
            return "not in optimizer"
        if not t.grad.isfinite().all() or not t.grad.any():
            return "bad gradient"
        return "ok" if moved else "not moved"

    return {name: finding(name, t) for name, t in tensors.items()}, torch.equal(x_ids, y_ids)
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-3-3", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("3.3", audit_chain)
### BEGIN HIDDEN TESTS
check("3.3", audit_chain, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Your audit on the `Stack` of 3.5, whose layers lie in a Python list. The cell says so if there is no audit yet.

# %% tags=["uses-answer"]
torch.manual_seed(7)
stack = Stack(list)
watched = {"layers.0.weight": stack.layers[0].weight, **dict(stack.named_parameters())}
rows = torch.arange(12)
try:
    findings, paired = audit_chain(
        stack, torch.optim.SGD(stack.parameters(), lr=0.5), torch.randn(12, 4), rows % 3, rows, rows, watched, set()
    )
    for name, finding in findings.items():
        print(f"{name:16s} {finding}")
except NotImplementedError:
    print("audit_chain is still the stub of exercise 3.3")

# %% [markdown]
# ## 3.10 Counting parameters
#
# **Claim.** A count of parameters catches a network that lists none. It does not say how many are enough: ten do
# for this task. **Control.** A hundred times as many, none of them in the optimizer, fit nothing.

# %% tags=["claim-3.10"]
class Forgotten(nn.Module):
    """All of its layers in a Python list."""

    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 16), nn.Linear(16, 2)]


def count(model):
    return sum(p.numel() for p in model.parameters())


print("layers in a list:", count(Forgotten()), "parameters")
assert count(Forgotten()) == 0
torch.manual_seed(10)
y = torch.arange(40) % 2
x = torch.randn(40, 4) + 3.0 * (2 * y[:, None] - 1)
small = nn.Linear(4, 2)
large = nn.Sequential(nn.Linear(4, 150), nn.ReLU(), nn.Linear(150, 2))
small_loss = losses_of(small, x, y, lr=0.5, steps=100)[-1]
for p in large.parameters():
    p.requires_grad = False
bystander = nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([bystander], lr=0.5)
start = F.cross_entropy(large(x), y).item()
for _ in range(100):
    optimizer.zero_grad()
    (F.cross_entropy(large(x), y) + 0 * bystander.sum()).backward()
    optimizer.step()
large_loss = F.cross_entropy(large(x), y).item()
print(f"{count(small):5d} parameters, trained: loss below 0.05: {small_loss < 0.05}, "
      f"right {small(x).argmax(1).eq(y).float().mean().item():.0%}")
print(f"{count(large):5d} parameters, none held by the optimizer: loss unchanged: {large_loss == start}")
assert count(small) == 10 and small_loss < 0.05 and small(x).argmax(1).equal(y)
assert count(large) > 1000 and large_loss == start > 0.2

# %% [markdown]
# ## 3.11 True labels against shuffled labels, by speed
#
# **Claim.** "If shuffled labels train as fast as the true ones, the pipeline is broken" does not hold, and neither
# does its converse. With one feature for each example, a *healthy* pipeline learns both at the same pace. On data
# with structure, a *broken* one, whose first layer is never stepped, still learns the true labels faster.
#
# **Control.** The healthy pipeline on the same data with structure: there the true labels are faster too, so the
# comparison tells data apart, not pipelines.


# %% tags=["claim-3.11"]
def pace(x, y, broken=False, steps=150):
    """Losses of a two-layer network; `broken` leaves its first layer out of the optimizer."""
    torch.manual_seed(11)
    model = nn.Sequential(nn.Linear(x.shape[1], 64), nn.Tanh(), nn.Linear(64, 3))
    optimizer = torch.optim.SGD((model[2] if broken else model).parameters(), lr=0.1)
    record = []
    for _ in range(steps):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record.append(loss.item())
    return record


def mean_pace(x, y, shuffled, broken=False):
    """The same, averaged over some permutations of the labels where they are shuffled."""
    g = torch.Generator().manual_seed(12)
    if not shuffled:
        return pace(x, y, broken)
    runs = [pace(x, y[torch.randperm(len(y), generator=g)], broken) for _ in range(3)]
    return [sum(step) / len(runs) for step in zip(*runs)]


labels = torch.arange(30) % 3
g = torch.Generator().manual_seed(13)
centers = torch.randn(3, 20, generator=g)
structured = centers[labels] + torch.randn(30, 20, generator=g)
worlds = {
    "healthy, one feature each": (5 * torch.eye(30), False),
    "healthy, structure": (structured, False),
    "broken, structure": (structured, True),
}
fig, axes = plt.subplots(1, 3, figsize=(8.4, 2.8), sharey=True)
gaps = {}
for ax, (name, (x, is_broken)) in zip(axes, worlds.items()):
    true, shuffled = (mean_pace(x, labels, s, is_broken) for s in (False, True))
    gaps[name] = (sum(shuffled) - sum(true)) / len(true)  # mean distance of the curves
    ax.plot(true, "-", label="true labels")
    ax.plot(shuffled, "--", label="shuffled labels")
    ax.set(title=name, xlabel="step")
    ax.title.set_fontsize(9)
    print(f"{name:26s} the true labels are faster: {gaps[name] > 0.1}")
axes[0].set_ylabel("loss on the supplied labels")
axes[0].legend(fontsize=8)
plt.tight_layout()
plt.show()
assert abs(gaps["healthy, one feature each"]) < 0.03
assert gaps["healthy, structure"] > 0.2 and gaps["broken, structure"] > 0.2

# %% [markdown]
# *Loss on the labels as supplied, true (solid) and shuffled (dashed, mean of three permutations). The left pipeline
# is healthy and shows no gap; the right one is broken and shows one.*
#
# ## What to take along
#
# - Test the loss with zero logits. Then look at logits, not at one mean.
# - Walk the chain in its order and compare **objects**, not values or names.
# - Judge movement by the values before and after a step; no gradient and no rate replaces that.
# - Keep an id with every input and every label. No loss will ever miss one.
#
# Next: the loss moves, and the validation loss goes elsewhere (notebook 04).
