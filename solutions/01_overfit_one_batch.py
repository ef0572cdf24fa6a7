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
# # 01 · Overfit one batch
#
# Before you train for hours, train for seconds: take one small batch, switch off everything random and
# everything that holds the model back, and repeat the update until the loss is gone. A fixed batch removes
# sampling as an explanation. What is left is the chain from inputs to update.
#
# Two sentences are heard often about this test, and both are false:
#
# - "It passed, so the pipeline is right." Section 2 passes it with the wrong labels.
# - "It did not reach zero, so something is broken." Section 4 has healthy fits that must not reach zero.
#
# By the end you can run the test with a record worth reading, compute how low a loss *can* go, and find out
# by one changed variable why a fit stopped above that.

# %% tags=["setup"] nbgrader={"grade_id": "setup-01", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
# %matplotlib inline
import copy
import math

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from autograder import check, explore, hint, solution

torch.set_num_threads(1)
torch.manual_seed(19)
plt.rcParams.update({"figure.figsize": (6.4, 3.2), "figure.dpi": 90})
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})

# %% [markdown]
# ## 1 · What a pass looks like
#
# **Claim.** Eight one-hot inputs, labels `i mod 3`, one linear layer, SGD with learning rate 1: after 250
# steps the mean cross entropy is below 0.04, and every label is predicted.


# %%
def fit(model, x, y, lr=1.0, steps=250, loss_fn=F.cross_entropy, **sgd):
    """Train in place on one batch; the loss before every update, and once more at the end."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, **sgd)
    losses = []
    for _ in range(steps):
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [*losses, loss_fn(model(x), y).item()]


def linear(seed=0):
    torch.manual_seed(seed)
    return nn.Linear(8, 3)


x = torch.eye(8)
y = torch.arange(8) % 3

# %% tags=["claim-1.2"]
model = linear()
true_curve = fit(model, x, y)
predicted = model(x).argmax(1)
print(f"cross entropy: {true_curve[0]:.1f} at the start, {true_curve[-1]:.2f} at the end")
print("labels   ", y.tolist())
print("predicted", predicted.tolist())
assert true_curve[-1] < 0.04 and torch.equal(predicted, y)

# %% [markdown]
# A test that can't fail shows nothing. **Control:** the same loop with a learning rate of zero must not pass.

# %% tags=["claim-1.2"]
still = fit(linear(), x, y, lr=0.0)
print(f"learning rate 0: {still[0]:.1f} at the start, {still[-1]:.1f} at the end")
assert still[-1] == still[0] > 0.04

# %% [markdown]
# ## 2 · What a pass does not say
#
# Now give the eight inputs each other's labels. Before you run the cell: will the loss end higher, and by
# how much?
#
# **Claim.** A fixed permutation of the labels is memorized just as well. The test has no opinion on what
# labels mean.

# %% tags=["claim-1.3"]
mixed_up = y[torch.tensor([1, 2, 3, 4, 5, 6, 7, 0])]
model = linear()
permuted_curve = fit(model, x, mixed_up)
predicted = model(x).argmax(1)
print(f"labels that are still right: {(mixed_up == y).sum()} of 8")
print(f"cross entropy at the end: true labels {true_curve[-1]:.2f}, permuted labels {permuted_curve[-1]:.2f}")
print(f"predictions that agree with the permuted labels: {(predicted == mixed_up).sum()} of 8")
print(f"predictions that agree with the true labels: {(predicted == y).sum()} of 8")
assert permuted_curve[-1] < 0.04 and torch.equal(predicted, mixed_up)
# the control: what does tell the two apart is a table of example ids and labels, not the loss
assert dict(enumerate(mixed_up.tolist())) != dict(enumerate(y.tolist()))

# %% [markdown]
# Labels are not the only thing that slips through. Leave out `zero_grad` and every gradient is added to all
# the earlier ones, which is a bug by any standard. The one-batch test passes it.
#
# The observable that catches it needs no training at all: call `backward` twice on the same batch and
# compare.

# %% tags=["claim-1.3"]
model = linear()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(400):
    F.cross_entropy(model(x), y).backward()  # and no zero_grad anywhere
    optimizer.step()
forgot = F.cross_entropy(model(x), y).item()


def second_over_first(model, clear):
    """Norm of the second backward's gradient over the first's, same batch, no update between."""
    norms = []
    model.zero_grad()
    for _ in range(2):
        if clear:
            model.zero_grad()
        F.cross_entropy(model(x), y).backward()
        norms.append(model.weight.grad.norm().item())
    return norms[1] / norms[0]


print(f"zero_grad forgotten: the loss still ends below 0.04: {forgot < 0.04}")
forgotten, cleared = (second_over_first(linear(), clear) for clear in (False, True))
print(f"second gradient / first: {forgotten:.1f} when forgotten, {cleared:.1f} when cleared")
assert forgot < 0.04
assert math.isclose(forgotten, 2, rel_tol=1e-5) and math.isclose(cleared, 1, rel_tol=1e-5)

# %% [markdown]
# ## 3 · A record worth reading
#
# A single final loss says too little. The record of a one-batch fit holds, for every step, the **loss**,
# the **predictions**, the **gradients** that the update used, and the **differences** that the parameters
# really made. Only the last one proves that the optimizer holds the parameters that you think it holds.

# %% [markdown]
# {{exercise 1.1}}
#
# Fit one batch with plain SGD, `p - lr * gradient`, and keep the record. Dropout and its like are off
# during this diagnostic, so the model is in evaluation mode while it runs, and in the mode it came in
# afterwards.

# %% nbgrader={"grade_id": "overfit-one-batch", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def overfit_one_batch(
    model: nn.Module, x: torch.Tensor, y: torch.Tensor, lr: float, steps: int
) -> list[dict]:
    """Fit one batch with plain SGD and record every step.

    model: maps x to logits (B, C). It may hold dropout, frozen parameters (requires_grad False), shared
        parameters, or gradients of an earlier use, which must play no part.
    x: inputs (B, ...). y: labels (B,), int64. lr: learning rate. steps: number of updates.

    Returns a list with one dict for each step:
        "loss": Python float, the mean cross entropy before the update.
        "predictions": tensor (B,), int64, the predicted classes before the update.
        "gradients": dict, one entry for each name of model.named_parameters(): the gradient that this step's
            update uses, a tensor like the parameter; None for a parameter that got none (frozen or unused).
        "changes": dict with the same names: the parameter after the update minus before, as measured on the
            parameter itself; zeros where it did not move.

    Example: with lr=0.0 every tensor in "changes" is zero and all the losses are equal.
    """
    ### BEGIN SOLUTION
    modes = {module: module.training for module in model.modules()}
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    record = []
    model.eval()
    for _ in range(steps):
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        named = dict(model.named_parameters())
        before = {name: p.detach().clone() for name, p in named.items()}
        optimizer.step()
        record.append(
            {
                "loss": loss.item(),
                "predictions": logits.argmax(dim=1),
                # zero_grad drops these tensors and the next backward makes new ones, so these stay as they are
                "gradients": {name: p.grad for name, p in named.items()},
                "changes": {name: p.detach() - before[name] for name, p in named.items()},
            }
        )
    for module, mode in modes.items():
        module.training = mode
    return record
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-1-1", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("1.1", overfit_one_batch)
### BEGIN HIDDEN TESTS
check("1.1", overfit_one_batch, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Here is your record as a dashboard, for a network with dropout whose first layer is frozen.
#
# **Claim.** With dropout off and capacity enough, loss, predictions, gradients and parameter differences
# tell one story: the loss falls to zero, the predictions settle on the labels, and each layer that has a
# gradient moves. **Control:** the frozen layer has none and does not move, although the loss goes to zero
# all the same.

# %% tags=["claim-1.1", "uses-answer"]
def dashboard(record, labels):
    """Loss, predictions by example, and the size of each parameter's change, by step."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9.6, 3.1), layout="constrained")
    left.semilogy([entry["loss"] for entry in record], color="black")
    left.set(title="loss", xlabel="step")
    hits = torch.stack([entry["predictions"] == labels for entry in record], dim=1)
    for example, row in enumerate(hits):
        steps = torch.arange(len(record))
        middle.plot(steps[row], [example] * int(row.sum()), "s", color="tab:blue", ms=3)
        middle.plot(steps[~row], [example] * int((~row).sum()), "x", color="tab:red", ms=5)
    middle.set(title="predicted: ■ right, × wrong", xlabel="step", ylabel="example")
    for name, style, size in zip(record[0]["changes"], ("o-", "x-", "^--", "v--"), (8, 5, 4, 4)):
        norms = [entry["changes"][name].norm() for entry in record]
        right.plot(norms, style, label=name, ms=size, mfc="none", markevery=6)
    right.set_yscale("symlog", linthresh=1e-3)
    right.set(title="norm of change", xlabel="step")
    right.legend(fontsize=7)
    plt.show()


torch.manual_seed(4)
model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Dropout(0.5), nn.Linear(64, 3))
model[0].requires_grad_(False)
try:
    record = overfit_one_batch(model, x, y, lr=1.0, steps=80)
except NotImplementedError:
    record = None
    print("Solve exercise 1.1 first; its record is drawn here.")
if record:
    dashboard(record, y)
    print(f"loss below 0.05 after {len(record)} steps: {record[-1]['loss'] < 0.05}")
    print("gradients at step 0:", {name: g is not None for name, g in record[0]["gradients"].items()})
    print("moved at step 0:    ", {name: bool(d.any()) for name, d in record[0]["changes"].items()})
    print("the model is back in training mode:", model.training)
    assert record[-1]["loss"] < 0.05 < record[0]["loss"] and torch.equal(record[-1]["predictions"], y)
    assert model.training
    for entry in record:
        for name, change in entry["changes"].items():
            assert bool(change.any()) == (entry["gradients"][name] is not None) == (not name.startswith("0."))

# %% [markdown]
# *Left: the loss by step. Middle: which examples are predicted right. Right: how far each parameter moved;
# the two curves of the frozen layer `0` lie on zero.*

# %% [markdown]
# ## 4 · How low can a loss go?
#
# **Claim.** Two equal inputs with different labels hold the mean cross entropy of that pair at or above log
# 2, for every model: equal inputs get equal predictions, and the best that one prediction can do for two
# labels is one half each.

# %% tags=["claim-1.4"]
pair, conflict = torch.ones(2, 4), torch.tensor([0, 1])
at_zero_logits = F.cross_entropy(torch.zeros(2, 2), conflict).item()
torch.manual_seed(1)
curve = fit(nn.Linear(4, 2), pair, conflict, lr=0.2, steps=300)
torch.manual_seed(1)
agreeing = fit(nn.Linear(4, 2), pair, torch.tensor([0, 0]), lr=0.2, steps=300)
print(f"zero logits {at_zero_logits:.6f}, log 2 {math.log(2):.6f}")
print(f"lowest loss in 300 steps: {min(curve):.4f}")
print(f"control, the same pair with labels that agree: below 0.01 after 300 steps: {agreeing[-1] < 0.01}")
assert abs(at_zero_logits - math.log(2)) < 1e-7
assert math.log(2) - 1e-6 < min(curve) < math.log(2) + 1e-4  # 1e-6: float32 rounding, and no more
assert agreeing[-1] < 0.01

# %% [markdown]
# In a batch, such a pair sets a floor under the whole mean. Below, example 7 gets the input of example 0.
# Two of eight examples then keep a loss of log 2, so no curve of that batch can cross 2 log 2 / 8.

# %% tags=["claim-1.3", "claim-1.4"]
x_clash = x.clone()
x_clash[7] = x_clash[0]
assert y[7] != y[0]
steps = 600
curves = {
    "true labels": (fit(linear(), x, y, steps=steps), "-", "o"),
    "permuted labels": (fit(linear(), x, mixed_up, steps=steps), "--", "s"),
    "one contradiction": (fit(linear(), x_clash, y, steps=steps), "-.", "^"),
}
floor = 2 * math.log(2) / 8
for label, (losses, line, marker) in curves.items():
    plt.loglog(range(1, steps + 2), losses, line, marker=marker, markevery=0.12, ms=5, label=label)
plt.axhline(floor, color="black", lw=1, ls=":")
plt.text(1.1, floor * 0.88, "floor 2 log 2 / 8", va="top", fontsize=8)
plt.xlabel("step")
plt.ylabel("cross entropy")
plt.legend(fontsize=8)
plt.show()

true_end, permuted_end, clash_end = (losses[-1] for losses, _, _ in curves.values())
print(f"floor {floor:.4f}; true {true_end:.2f}, permuted {permuted_end:.2f}, contradiction {clash_end:.2f}")
assert true_end < 0.04 and permuted_end < 0.04
assert min(curves["one contradiction"][0]) > floor - 1e-6 and clash_end < floor + 0.03

# %% [markdown]
# *Loss by step, both axes logarithmic. True and permuted labels fall together; with one contradiction in
# the batch the curve bends and follows its floor (dotted). Nothing is broken in any of the three.*

# %% [markdown]
# Label smoothing builds a floor too. With smoothing `s` and `C` classes, the target gives each class `s /
# C` and the label `1 - s` more. A prediction equal to that target is the best there is; its cross entropy
# is the target's own entropy.
#
# **Claim.** A smoothed fit comes down to that entropy and not below it. **Control:** without smoothing, the
# same fit goes through that level.

# %% tags=["claim-1.5"]
def smoothed_target(smoothing, classes):
    """The target of a label 0: a distribution (classes,)."""
    target = torch.full((classes,), smoothing / classes, dtype=torch.float64)
    target[0] += 1 - smoothing
    return target


target = smoothed_target(0.1, 3)
smoothing_floor = torch.special.entr(target).sum().item()
smoothed = fit(linear(), x, y, steps=1000, loss_fn=nn.CrossEntropyLoss(label_smoothing=0.1))
plain = fit(linear(), x, y, steps=1000)
print("target", [round(p, 4) for p in target.tolist()], f"floor {smoothing_floor:.4f}")
print(f"lowest loss in 1000 steps: smoothed {min(smoothed):.3f}, plain {min(plain):.2f}")
assert smoothing_floor - 1e-6 < min(smoothed) < smoothing_floor + 1e-3
assert min(plain) < smoothing_floor / 10

# %% [markdown]
# How much does it cost? Predict first: at smoothing 0.1, is the floor of 1000 classes higher than that of 2?

# %%
def show_floor(smoothing=0.1, classes=3):
    """The floor against the smoothing, for a few class counts, with the chosen point marked."""
    grid = torch.linspace(0, 1, 51).tolist()
    for count, line in ((2, ":"), (10, "--"), (1000, "-.")):
        floors = [torch.special.entr(smoothed_target(s, count)).sum() for s in grid]
        plt.plot(grid, floors, line, color="gray", lw=1)
        plt.text(1.01, math.log(count), f"C = {count}", fontsize=8, va="center")
    chosen = torch.special.entr(smoothed_target(smoothing, classes)).sum().item()
    plt.plot(grid, [torch.special.entr(smoothed_target(s, classes)).sum() for s in grid], color="black")
    plt.plot([smoothing], [chosen], "o", ms=8)
    plt.annotate(f"floor {chosen:.3f}", (smoothing, chosen), (8, -12), textcoords="offset points")
    plt.title(f"label smoothing {smoothing:g}, {classes} classes", fontsize=9)
    plt.xlabel("label smoothing")
    plt.ylabel("least cross entropy")
    plt.show()
    return chosen


assert abs(show_floor() - smoothing_floor) < 1e-12
for c in (2, 10, 1000):
    assert abs(torch.special.entr(smoothed_target(1.0, c)).sum().item() - math.log(c)) < 1e-9

# %% [markdown]
# *The least cross entropy against the smoothing: gray for 2, 10 and 1000 classes, black for the chosen
# count. At smoothing 1 nothing is left of the label and every curve ends at log C.*

# %% tags=["widget", "nbval-skip"]
explore(show_floor, smoothing=(0, 1, 0.05), classes=(2, 100, 1))

# %% [markdown]
# {{exercise 1.5a}}
#
# Put both floors together: the smallest mean cross entropy that any model, however large, can reach on a
# batch in which inputs may repeat, labels may contradict each other, and labels may be smoothed.

# %% nbgrader={"grade_id": "loss-floor", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def loss_floor(x: torch.Tensor, y: torch.Tensor, num_classes: int, label_smoothing: float) -> float:
    """The smallest mean cross entropy, in nats, that any model can reach on this batch.

    x: inputs (B,) or (B, ...), of any dtype; two inputs are the same when all their numbers are equal.
    y: labels (B,), int64, from 0 to num_classes - 1.
    label_smoothing: from 0 to 1, as in F.cross_entropy(logits, y, label_smoothing=...).

    Returns a Python float.

    Example: two equal inputs with the labels 0 and 1, two classes, no smoothing: 0.6931 (log 2).
    """
    ### BEGIN SOLUTION
    _, group = torch.unique(x.reshape(len(x), -1), dim=0, return_inverse=True)
    one_hot = F.one_hot(y, num_classes)
    target = (1 - label_smoothing) * one_hot + label_smoothing / num_classes
    total = 0.0
    for g in range(int(group.max()) + 1):
        best = target[group == g].mean(0)  # the one prediction that these examples share
        total += int((group == g).sum()) * torch.special.entr(best).sum().item()
    return total / len(y)
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-1-5a", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("1.5a", loss_floor)
### BEGIN HIDDEN TESTS
check("1.5a", loss_floor, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 5 · Does softmax belong before the cross entropy?
#
# `F.cross_entropy` takes logits and does the softmax itself. Hand it probabilities and it applies softmax
# to them once more. Nothing raises, and the accuracy is perfect.
#
# **Claim.** The loss then can't fall below log(e + C - 1) - 1, because no input of that second softmax
# exceeds 1. **Control:** `log_softmax` before the cross entropy changes nothing, so "twice" alone is not
# the mistake.

# %% tags=["claim-1.5"]
def through(squash):
    return lambda logits, labels: F.cross_entropy(squash(logits), labels)


squashes = {
    "logits": lambda z: z,
    "softmax first": lambda z: z.softmax(1),
    "log_softmax first": lambda z: z.log_softmax(1),
}
ends, accuracy = {}, {}
for name, squash in squashes.items():
    model = linear()
    ends[name] = fit(model, x, y, lr=2.0, steps=1500, loss_fn=through(squash))[-1]
    accuracy[name] = (model(x).argmax(1) == y).float().mean().item()
    print(f"{name:18} accuracy {accuracy[name]:.2f}  loss {ends[name]:.2f}")
softmax_floor = math.log(math.e + 3 - 1) - 1
print(f"floor with softmax first, three classes: {softmax_floor:.4f}")
assert all(a == 1 for a in accuracy.values())
assert softmax_floor < ends["softmax first"] < softmax_floor + 0.02
assert ends["logits"] < 0.01 and abs(ends["log_softmax first"] - ends["logits"]) < 1e-4

# %% [markdown]
# ## 6 · Six causes, one changed variable each
#
# A fit that stays up is a question. Six causes can do it with every wire in its place: capacity,
# contradictory labels, label smoothing, regularization, the learning rate, and a loss that doesn't suit
# what it is given. Curves look alike; what tells causes apart is an intervention.
#
# **Claim.** Each of six faulty fits comes down under its own single change, and under none of the other five.

# %% tags=["claim-1.5"]
torch.manual_seed(6)
x12, y12 = 1.5 * torch.randn(12, 4), torch.arange(12) % 3
clash = x12.clone()
clash[1] = clash[0]  # labels 0 and 1
keep = torch.tensor([0, *range(2, 12)])  # every different input once
SOUND = dict(x=x12, rows=torch.arange(12), width=24, lr=0.4)
SOUND |= dict(label_smoothing=0.001, weight_decay=1e-5, squash="log_softmax first")


def final_loss(x, rows, width, lr, label_smoothing, weight_decay, squash):
    """The loss after 300 steps of a fresh fit of y12, with these settings."""
    torch.manual_seed(8)
    net = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3))
    objective = nn.CrossEntropyLoss(label_smoothing=label_smoothing)

    def loss_fn(logits, labels):
        return objective(squashes[squash](logits), labels)

    return fit(net, x[rows], y12[rows], lr, steps=300, loss_fn=loss_fn, weight_decay=weight_decay)[-1]


faults = {
    "capacity": dict(width=1),
    "contradiction": dict(x=clash),
    "smoothing": dict(label_smoothing=0.1),
    "regularization": dict(weight_decay=0.1),
    "learning rate": dict(lr=1e-3),
    "loss": dict(squash="softmax first"),
}
repairs = {
    "width 64": dict(width=64),
    "repeats dropped": dict(rows=keep),
    "no smoothing": dict(label_smoothing=0.0),
    "no decay": dict(weight_decay=0.0),
    "rate 0.5": dict(lr=0.5),
    "plain logits": dict(squash="logits"),
}
sound = final_loss(**SOUND)
table = torch.tensor([[final_loss(**{**SOUND, **f, **r}) for r in repairs.values()] for f in faults.values()])

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axes.imshow(table.log10(), cmap="Blues", aspect="auto", vmin=-3, vmax=1.5)
for i, row in enumerate(table.tolist()):
    for j, value in enumerate(row):
        fitted = value < 0.05
        text, weight = (f"{value:.2f} ✓", "bold") if fitted else (f"{value:.2f}", "normal")
        axes.text(j, i, text, ha="center", va="center", weight=weight)
axes.set_xticks(range(6), repairs, rotation=20, fontsize=8)
axes.set_yticks(range(6), faults, fontsize=8)
axes.set(xlabel="the one variable changed", ylabel="what holds the fit up")
plt.show()

print(f"no fault: below 0.05: {sound < 0.05}")
for name, column, row in zip(faults, repairs, table):
    print(f"{name:15} falls below 0.05 with: {', '.join(c for c, v in zip(repairs, row) if v < 0.05)}")
fitted = table < 0.05
assert sound < 0.05 and torch.equal(fitted, torch.eye(6, dtype=torch.bool))

# %% [markdown]
# *Final loss of 36 fits: rows are faults, columns are changes of one variable. A check mark says that the
# fit came below 0.05, which happens on the diagonal only. All these fits also have a little decay, a little
# smoothing and a superfluous `log_softmax`. Those look suspicious and do no harm: taking one away changes
# nothing.*
#
# Two changes at once would have fitted too, and you would not know which one did it.

# %% [markdown]
# {{exercise 1.5b}}
#
# `fit` is a live one-batch fit whose settings you can't see. Find out what keeps it from zero, or that
# nothing does, and bring the measurement that shows it.

# %% nbgrader={"grade_id": "why-not-zero", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def why_not_zero(fit) -> dict:
    """Diagnose a live one-batch fit: a network with one hidden layer, trained with SGD on 12 examples.

    What you can ask:
        fit.batch(): {"x": (12, 4) float64, "y": (12,) int64}, the batch.
        fit.settings(): which variables can be changed, each with its least and greatest value or its choices:
            lr, width, activation, loss, label_smoothing, weight_decay, max_norm (each layer is scaled back
            to at most this norm after an update), and examples (a list of the rows to train on).
        fit.loss(**changes): the final loss of a fresh fit, a float; what you don't name is as it was.
            fit.loss() changes nothing. A fit whose final loss is below 0.05 counts as near zero.

    Returns a dict:
        "cause": "capacity", "contradictory labels", "label smoothing", "regularization", "learning rate",
            "unsuitable loss", or "nothing" if the fit gets near zero as it is.
        "change": the one variable whose change takes the fit near zero, such as {"width": 64}; for
            contradictory labels {"examples": rows}, where the rows still hold every different input;
            {} for "nothing".
        "before", "after": the final loss without and with that change, as measured; equal for "nothing".
    """
    ### BEGIN SOLUTION
    settings = fit.settings()
    rows = [tuple(row) for row in fit.batch()["x"].tolist()]
    different = sorted({row: i for i, row in enumerate(rows)}.values())
    suspects = [
        ("nothing", {}),
        ("label smoothing", {"label_smoothing": 0.0}),
        ("regularization", {"weight_decay": 0.0}),
        ("regularization", {"max_norm": settings["max_norm"][1]}),
        ("unsuitable loss", {"loss": "cross entropy"}),
        ("capacity", {"width": settings["width"][1]}),
        ("capacity", {"activation": "relu"}),
        ("learning rate", {"lr": 0.5}),
        ("learning rate", {"lr": 0.1}),  # for inputs that are large numbers
        ("contradictory labels", {"examples": different}),
    ]
    for cause, change in suspects:
        after = fit.loss(**change)
        if after < 0.05:
            break
    return {"cause": cause, "change": change, "before": fit.loss(), "after": after}
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-1-5b", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("1.5b", why_not_zero)
### BEGIN HIDDEN TESTS
check("1.5b", why_not_zero, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 7 · More parameters than examples is no guarantee
#
# "It has thousands of parameters for eight examples, so it must fit." Counting is enough for linear
# equations, not for gradient descent on a network.
#
# **Claim.** A network of 6147 parameters stays far from zero on a batch that 27 parameters fit. Its hidden
# biases start at minus 10, so every ReLU is off on every example, no gradient reaches the first layer, and
# only the output's bias learns. **Control:** the same network with biases that start at zero fits.

# %% tags=["claim-1.6"]
def wide(bias):
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(8, 512), nn.ReLU(), nn.Linear(512, 3))
    nn.init.constant_(net[0].bias, bias)
    return net


contestants = {"wide, dead": wide(-10.0), "wide, alive": wide(0.0), "small": linear()}
ends = {}
for name, net in contestants.items():
    count = sum(p.numel() for p in net.parameters())
    start = copy.deepcopy(net.state_dict())
    active = (net[0](x) > 0).any(0).sum().item() if name != "small" else None
    ends[name] = fit(net, x, y, lr=0.5, steps=600)[-1]
    moved = [key for key, value in net.state_dict().items() if not torch.equal(value, start[key])]
    print(f"{name:12} {count:5} parameters  loss {ends[name]:.2f}  moved: {', '.join(moved)}")
    if name == "wide, dead":
        assert active == 0 and moved == ["2.bias"]

shares = torch.bincount(y) / 8
best_constant = torch.special.entr(shares).sum().item()
print(f"best loss of one prediction for all eight examples: {best_constant:.2f}")
assert ends["small"] < 0.04 and ends["wide, alive"] < 0.04
assert abs(ends["wide, dead"] - best_constant) < 1e-3

# %% [markdown]
# ## 8 · Without its ReLU a network is one line
#
# **Claim.** Two linear layers in a row are one affine map: the product of the two. It still fits a task
# that a line can separate. **Control:** it fails on XOR, and with the ReLU back in its place the same
# layers fit XOR.

# %% tags=["claim-1.7"]
two = nn.Sequential(nn.Linear(2, 16), nn.Linear(16, 2)).double()
weight = two[1].weight @ two[0].weight
bias = two[1].weight @ two[0].bias + two[1].bias
points = torch.randn(100, 2, dtype=torch.float64)
gap = (two(points) - (points @ weight.T + bias)).abs().max().item()
print(f"two layers against their product, 100 points: they differ by less than 1e-12: {gap < 1e-12}")
assert gap < 1e-12

corners = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
tasks = {"OR": torch.tensor([0, 1, 1, 1]), "XOR": torch.tensor([0, 1, 1, 0])}


def small_net(relu):
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(2, 16), *([nn.ReLU()] if relu else []), nn.Linear(16, 2))


figure, panels = plt.subplots(1, 3, figsize=(8.4, 2.9), layout="constrained", sharey=True)
ends, right = {}, {}
side = torch.linspace(-0.4, 1.4, 60)
grid = torch.stack(torch.meshgrid(side, side, indexing="xy"), -1)
for panel, (task, relu) in zip(panels, (("OR", False), ("XOR", False), ("XOR", True))):
    net, labels = small_net(relu), tasks[task]
    ends[task, relu] = fit(net, corners, labels, lr=0.5, steps=1000)[-1]
    right[task, relu] = (net(corners).argmax(1) == labels).sum().item()
    with torch.no_grad():
        score = net(grid).softmax(-1)[..., 1]
    if (score - 0.5).abs().max() < 0.01:  # rounding noise has no border
        panel.text(0.5, 0.5, "probability 0.50\neverywhere", ha="center", va="center", fontsize=9)
    else:
        panel.contourf(side, side, score, levels=[0, 0.5, 1], colors=["white", "lightgray"])
        panel.contour(side, side, score, levels=[0.5], colors="black", linewidths=1)
    for label, marker in ((0, "o"), (1, "^")):
        fill = "white" if label else "black"
        panel.plot(*corners[labels == label].T, marker, ms=9, color="black", mfc=fill, ls="")
    title = f"{task}, {'with' if relu else 'without'} ReLU"
    panel.set_title(f"{title}\nloss {ends[task, relu]:.2f}", fontsize=9)
    panel.set(xlim=(-0.4, 1.4), ylim=(-0.4, 1.4))
    print(f"{title:18} loss {ends[task, relu]:.2f}  all right: {right[task, relu] == 4}")
plt.show()
assert ends["OR", False] < 0.04 and right["OR", False] == 4
assert abs(ends["XOR", False] - math.log(2)) < 1e-3 and right["XOR", False] < 4
assert ends["XOR", True] < 0.04 and right["XOR", True] == 4

# %% [markdown]
# *Circles are class 0, triangles class 1; gray is where class 1 is predicted. One straight border is enough
# for OR. For XOR the best affine map is none at all; the ReLU lets the border bend.*

# %% [markdown]
# ## 9 · Mean squared error on one-hot targets
#
# It is sometimes listed among the bugs. **Claim.** With targets of the right shape it is a different
# objective, not an invalid one: it fits the same batch, and its number means something else. **Control:**
# the same weights, judged by cross entropy, are far from zero, so the two losses are not one loss in two
# units.

# %% tags=["claim-1.8"]
def squared_error(logits, labels):
    targets = F.one_hot(labels, 3).float()
    assert logits.shape == targets.shape  # "correctly shaped": nothing is broadcast
    return F.mse_loss(logits, targets)


by_mse, by_ce = linear(), linear()
mse_curve = fit(by_mse, x, y, lr=1.0, steps=600, loss_fn=squared_error)
fit(by_ce, x, y, steps=600)
for name, net in (("trained on squared error", by_mse), ("trained on cross entropy", by_ce)):
    with torch.no_grad():
        logits = net(x)
    hits = (logits.argmax(1) == y).sum().item()
    print(f"{name}: {hits} of 8 right")
    print(f"  squared error {squared_error(logits, y):.1f}, cross entropy {F.cross_entropy(logits, y):.2f}")
    assert hits == 8
cross_entropy_of_mse = F.cross_entropy(by_mse(x), y).item()
assert mse_curve[-1] < 1e-3 < 0.5 < cross_entropy_of_mse
assert abs(cross_entropy_of_mse - softmax_floor) < 0.02

# %% [markdown]
# That cross entropy, 0.55, is an old acquaintance: logits that are exactly one-hot are what "softmax first"
# ends at in section 5.
#
# ## What you can say now
#
# | You see | You may say | You may not say |
# |---|---|---|
# | the batch is fitted | this model and optimizer can fit these examples | labels are right, updates are right, it will generalize |
# | the loss stops at its floor | the batch, or the smoothing, allows no less | something is broken |
# | the loss stops above its floor | one of several causes holds it up | which one, before one variable is changed alone |
# | a parameter has no gradient and doesn't move | it is frozen or not connected | that the loss will tell you so |
