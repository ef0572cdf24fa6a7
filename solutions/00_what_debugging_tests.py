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
# # 00 · What debugging tests
#
# A training run makes claims: the labels belong to the inputs, the split is honest, the metric measures the task,
# the weights move. A falling curve is evidence for one of them. Debugging means to test the others, one at a time,
# with a number that could have come out differently.
#
# ## The session
#
# About two hours with the exercises marked *core*, in order; each notebook stands alone. Behind a plus sign: *stretch*.
#
# {{session}}
#
# Run the two cells below (Shift+Enter) to see what is done and what is next. Come back whenever you like.

# %% tags=["setup"] nbgrader={"grade_id": "setup-00", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import io
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

import autograder
from autograder import explore, hint, progress

# %matplotlib inline
torch.set_num_threads(1)
torch.manual_seed(0)
plt.rcParams.update({"figure.figsize": (6.4, 3.2), "figure.dpi": 90, "axes.grid": True, "grid.alpha": 0.3})

# %%
progress()

# %% [markdown]
# ## How to read a claim
#
# This notebook has no graded exercise. It shows how to read the others, and makes three points that they rest on.
#
# One belief to begin with: **"No exception means no bug."** Every broken run below ends without one.
#
# **Claim.** A statement that can be false. The cell below it measures, prints what it found and ends with `assert`:
# if the statement were false here, the cell would fail.
#
# **Control.** The same measurement where the statement must *not* hold. A measurement that comes out the same with
# and without the fault says nothing about it. A tiny one to practice:
#
# **Claim.** A mean hides one bad value among many. **Control.** The maximum does not.

# %%
clean = torch.full((1000,), 0.5)
spoiled = clean.clone()
spoiled[123] = 5.0
print(f"mean:    clean {clean.mean().item():.2f}, spoiled {spoiled.mean().item():.2f}")
print(f"maximum: clean {clean.max().item():.2f}, spoiled {spoiled.max().item():.2f}")
assert abs(clean.mean() - spoiled.mean()) < 0.01  # the claim
assert spoiled.max() - clean.max() > 1  # its control

# %% [markdown]
# ## How check and hint work
#
# An exercise has a stub, a function with a docstring and no body, and below it a check. The check calls your
# function and shows a line for each case: what was **observed**, what was **expected**, and **where to look**.
# It calls your function on copies, so run it as often as you like. After an edit run the stub's cell: the check then
# says that it is **stale**, and you run it again.
#
# A first answer to exercise 3.2, which asks for logits that are *not* uniform and still have a mean loss of log C.
# Zero logits get the loss right. Nothing is graded here.


# %%
def first_answer(targets, classes):
    return torch.zeros(len(targets), classes)


autograder.check("3.2", first_answer)

# %% [markdown]
# No case passes, and the table says why: the loss is as wanted, the probabilities are not. A number stands beside
# each of the two. The line on top also says what is still to come: the cases you see are examples, and **fresh
# cases are drawn when the notebook is graded**. A function that solves the task passes them; one that knows the
# examples does not. Without output, the points so far are shown as a plain number.
#
# A stub as it came is not a mistake, only *not attempted*:


# %%
def untouched(targets, classes):
    raise NotImplementedError()


autograder.check("3.2", untouched)

# %% [markdown]
# Stuck? Each call of `hint` names one more thing to look at, three in all. Hints are free. Once all visible cases
# pass, `solution("3.2")` shows our answer beside yours, where solutions came with your notebooks.

# %%
hint("3.2")

# %% [markdown]
# ## 0.1 What a falling loss shows
#
# **Claim.** A falling loss shows that the written objective fell on the supplied data, and no more. One loop, four
# runs. In one of them all is well; in the others
#
# - (a) the labels were permuted,
# - (b) the target was left among the columns of the input,
# - (c) the accuracy is taken along the wrong axis.
#
# The loss falls in all four.

# %% tags=["claim-0.1"]
CLASSES, FEATURES = 10, 40


def examples(rows, seed, noise=1.5):
    """Features around one center a class and their labels, every class equally often, in random order."""
    centers = 1.2 * torch.randn(CLASSES, FEATURES, generator=torch.Generator().manual_seed(1))
    g = torch.Generator().manual_seed(seed)
    labels = (torch.arange(rows) % CLASSES)[torch.randperm(rows, generator=g)]
    return centers[labels] + noise * torch.randn(rows, FEATURES, generator=g), labels


def train(x, y, steps=150):
    """The one loop. It is right; what it is given may not be. Returns the model and the losses."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(x.shape[1], 64), nn.ReLU(), nn.Linear(64, CLASSES))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model.eval(), losses


def accuracy(logits, y, dim=1):
    """Fraction of rows whose largest logit is that of the label."""
    return logits.argmax(dim).eq(y).float().mean().item()


def with_target(x, y):
    """A table from which nobody dropped the target: its one-hot columns stand behind the features."""
    return torch.cat([x, 6.0 * F.one_hot(y, CLASSES)], dim=1)


x, y = examples(100, seed=2)
x_new, y_new = examples(200, seed=3)
permuted = y[torch.randperm(100, generator=torch.Generator().manual_seed(4))]
g = torch.Generator().manual_seed(5)
static, static_new = torch.randn(100, FEATURES, generator=g), torch.randn(200, FEATURES, generator=g)

runs = {
    "all is well": train(x, y),
    "(a) labels permuted": train(x, permuted),
    "(b) target in the input": train(with_target(static, y), y),
    "(c) metric on the wrong axis": train(x, y),
}
for name, (_, losses) in runs.items():
    print(f"{name:29s} loss {losses[0]:.1f} -> below 0.1: {losses[-1] < 0.1}")
    assert losses[0] > 2 and losses[-1] < 0.1


# %%
def plot_losses(runs):
    fig, ax = plt.subplots()
    for (name, (_, losses)), style in zip(runs.items(), ("-", "--", "-.", ":")):
        ax.semilogy(losses, style, lw=2, label=name)
    ax.set(xlabel="step", ylabel="training loss")
    ax.legend(fontsize=8)
    plt.show()


plot_losses(runs)

# %% [markdown]
# *Training loss of the four runs, on a logarithmic axis. Which one is healthy? The curve of (c) lies on that of the
# healthy run: the loop is the same, and the fault is in what is reported beside it.*
#
# **Controls.** Each fault has a measurement in which it differs from the healthy run.
#
# - (a) On new examples with true labels: high if the labels belong to the inputs, about 1/10 if not.
# - (b) On new examples whose target columns are shuffled, since in earnest nobody knows the answer yet. With the
#   columns intact the same model is nearly perfect on new examples, although all other columns are noise.
# - (c) On handmade logits that are right in every row, a metric must be 1.

# %% tags=["claim-0.1"]
def on_new(name, inputs):
    with torch.no_grad():
        return accuracy(runs[name][0](inputs), y_new)


healthy, a = on_new("all is well", x_new), on_new("(a) labels permuted", x_new)
leaky = with_target(static_new, y_new)
shuffled = leaky.clone()
order = torch.randperm(200, generator=torch.Generator().manual_seed(6))
shuffled[:, FEATURES:] = leaky[order, FEATURES:]
intact, b = on_new("(b) target in the input", leaky), on_new("(b) target in the input", shuffled)
print(f"(a) accuracy on new examples: healthy {healthy:.1f}, permuted {a:.1f}")
print(f"(b) accuracy on new examples: target intact {intact:.1f}, target shuffled {b:.1f}")
assert healthy > 0.8 and a < 0.3
assert intact > 0.9 and b < 0.3

batch = torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 9, 0])  # ten rows, ten classes: both axes have length ten
perfect = 20.0 * F.one_hot(batch, CLASSES)
in_order = 20.0 * F.one_hot(torch.arange(10), CLASSES)
print(f"(c) perfect logits: along dim 1 {accuracy(perfect, batch)}, along dim 0 {accuracy(perfect, batch, dim=0)}")
print(f"    the same with the labels in order: along dim 0 {accuracy(in_order, torch.arange(10), dim=0)}")
assert accuracy(perfect, batch) == 1.0 and accuracy(perfect, batch, dim=0) == 0.0
assert accuracy(in_order, torch.arange(10), dim=0) == 1.0

# %% [markdown]
# The last line is how such a metric survives its first test: with labels in order the two axes agree. It takes a
# batch as large as the number of classes, and no exception is raised; with any other size there is one.
#
# ## Pairs, seen through ids
#
# (a) had a cause: inputs and labels lost each other. An **id** that travels with each of them shows it without any
# training. Below, a field is marked where an input and a label meet in a row of the batch.

# %% tags=["claim-0.1"]
SHUFFLES = ("one permutation for both", "a permutation each", "labels one row late")


def paired_ids(shuffle, rows=18, seed=0):
    """Id of the input and id of the label of each row of a batch."""
    g = torch.Generator().manual_seed(seed)
    inputs = torch.randperm(rows, generator=g)
    if shuffle == "one permutation for both":
        return inputs, inputs
    return inputs, torch.randperm(rows, generator=g) if shuffle == "a permutation each" else inputs.roll(1)


def kinds(shuffle, seed=0):
    """For each row: "same" example, "lucky" (another example with the same label) or "wrong"."""
    inputs, labels = paired_ids(shuffle, seed=seed)
    same, equal = inputs == labels, inputs % 3 == labels % 3  # example i has label i mod 3
    return ["same" if s else "lucky" if e else "wrong" for s, e in zip(same, equal)]


def plot_pairs(shuffle="a permutation each", seed=0):
    inputs, labels = paired_ids(shuffle, seed=seed)
    fig, ax = plt.subplots(figsize=(4.6, 4.2))
    drawn = kinds(shuffle, seed)
    for kind, marker, text in (("same", "s", "same example"), ("lucky", "o", "another example, same label"),
                               ("wrong", "x", "another example, another label")):
        at = [i for i, k in enumerate(drawn) if k == kind]
        ax.plot(inputs[at], labels[at], marker, ms=8, mew=1.6, mfc="k" if kind == "same" else "none", mec="k",
                color="k", ls="none", label=f"{len(at):2d} {text}")
    ax.plot([0, 17], [0, 17], ":", color="0.6", lw=1)
    ax.set(xlabel="id of the input", ylabel="id of the label", title=shuffle, xticks=range(0, 18, 3),
           yticks=range(0, 18, 3), aspect="equal", xlim=(-1, 18), ylim=(-1, 18))
    ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    plt.show()


plot_pairs()
for shuffle in SHUFFLES:
    found = kinds(shuffle)
    counts = "   ".join(f"{kind} {found.count(kind):2d}" for kind in ("same", "lucky", "wrong"))
    print(f"{shuffle:25s} {counts}")
assert kinds("one permutation for both") == ["same"] * 18
assert kinds("a permutation each").count("same") < 6 and kinds("labels one row late").count("same") == 0
assert kinds("a permutation each").count("lucky") > 0

# %% [markdown]
# *Each mark is a row of the batch. Filled squares on the diagonal: the input meets its own label. Circles: another
# example's label that happens to be equal, so that an accuracy above zero proves nothing. Crosses: a wrong label.*

# %% tags=["widget", "nbval-skip"]
explore(plot_pairs, shuffle=list(SHUFFLES), seed=(0, 20, 1))

# %% [markdown]
# ## 0.2 To repeat a failure, save what it was made of
#
# A hypothetical incident: a run with finite losses turns NaN at update k. What must be on disk to see **exactly that
# update** fail again?
#
# The run below fits y and its noise level σ together, by the Gaussian negative log-likelihood
# log σ + (y - ŷ)² / 2σ². Nothing keeps σ above zero. An update counts as failed if the loss on its own batch is NaN
# after it.

# %% tags=["claim-0.2"]
DEFAULTS = {"dropout": 0.5, "lr": 0.01, "momentum": 0.0}
CONFIG = {"dropout": 0.2, "lr": 0.08, "momentum": 0.5}
g = torch.Generator().manual_seed(0)
X = torch.randn(64, 3, generator=g)
Y = X @ torch.tensor([1.0, -0.5, 0.25]) + 0.3 * torch.randn(64, generator=g)


class NoiseFit:
    """A small network, its noise level and their optimizer."""

    def __init__(self, config):
        self.net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(config["dropout"]), nn.Linear(16, 1))
        self.sigma = nn.Parameter(torch.ones(()))
        self.parameters = [*self.net.parameters(), self.sigma]
        self.optimizer = torch.optim.SGD(self.parameters, lr=config["lr"], momentum=config["momentum"])

    def loss(self, ids):
        residual = Y[ids] - self.net(X[ids]).squeeze(1)
        return (self.sigma.log() + residual.square() / (2 * self.sigma**2)).mean()

    def update(self, ids):
        """One update on the examples `ids`. Returns the loss before it and, without dropout, after it."""
        self.net.train()
        loss = self.loss(ids)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.net.eval()
        with torch.no_grad():
            return loss.item(), self.loss(ids).item()


def batches(seed):
    """Ids of each batch of four, for three epochs, each in an order of its own."""
    g = torch.Generator().manual_seed(seed)
    return [ids for _ in range(3) for ids in torch.randperm(64, generator=g).split(4)]


def save(run, ids, config):
    """Everything that an update depends on, as bytes, the way it would lie on disk."""
    file = io.BytesIO()
    torch.save(
        {
            "parameters": [p.detach() for p in run.parameters],
            "optimizer": run.optimizer.state_dict(),
            "rng": torch.get_rng_state(),
            "ids": ids,
            "config": config,
        },
        file,
    )
    return file.getvalue()


torch.manual_seed(887)
run, order, history = NoiseFit(CONFIG), batches(887), []
for ids in order:
    saved = save(run, ids, CONFIG)  # before each update, overwriting the one before
    before, after = run.update(ids)
    history.append((before, after, run.sigma.item()))
    if math.isnan(after):
        break
k = len(history) - 1
failed = [p.detach().clone() for p in run.parameters]
print(f"update {k} is the first after which the loss is NaN, on ids {sorted(ids.tolist())}")
print(f"loss before it finite: {math.isfinite(before)}")
print(f"sigma before it {history[-2][2]:.2f}, after it {history[-1][2]:.2f}")
assert all(math.isfinite(loss) for row in history[:-1] for loss in row) and math.isfinite(before)
assert math.isnan(after) and all(p.isfinite().all() for p in failed)


# %%
def plot_history(history):
    fig, ax = plt.subplots()
    ax.plot([row[0] for row in history], "-o", ms=4, label="loss before the update")
    ax.plot([row[2] for row in history], "--s", ms=4, label="sigma after the update")
    ax.axhline(0, color="0.4", lw=1)
    ax.axvline(len(history) - 1, color="k", ls=":", label="loss after it is NaN")
    ax.set(xlabel="update", ylabel="value")
    ax.legend(fontsize=8)
    plt.show()


plot_history(history)
assert history[-1][2] < 0 < min(row[2] for row in history[:-1])

# %% [markdown]
# *Losses (circles) and noise level (squares). At the dotted line σ steps below zero, and its logarithm is NaN. The
# loss curve up to there gives no warning.*
#
# **Claim.** From the saved state update k fails again, bit for bit: the same loss before, the same parameters after.
#
# **Control.** With any one ingredient left out, a new process would put something in its place: a fresh
# initialization, an empty optimizer state, another seed, another batch, the default configuration. None of these
# fails at this update. Where there is a choice many are tried: initializations, seeds, all batches of the epoch.

# %% tags=["claim-0.2"]
def repeat(saved, left_out=None, seed=1, other_ids=None):
    """Update k again in a new run, from saved bytes, with one ingredient replaced. Returns losses and parameters."""
    state = torch.load(io.BytesIO(saved))
    torch.manual_seed(seed)
    run = NoiseFit(DEFAULTS if left_out == "config" else state["config"])
    if left_out != "parameters":
        with torch.no_grad():
            for p, value in zip(run.parameters, state["parameters"]):
                p.copy_(value)
    if left_out != "optimizer":
        run.optimizer.load_state_dict(state["optimizer"])
    if left_out != "rng":
        torch.set_rng_state(state["rng"])
    before, after = run.update(other_ids if left_out == "ids" else state["ids"])
    return before, after, [p.detach().clone() for p in run.parameters]


again, after_again, parameters = repeat(saved)
identical = again == before and all(torch.equal(a, b) for a, b in zip(parameters, failed))
print(f"everything restored:    NaN again {math.isnan(after_again)}, bit for bit {identical}")
assert math.isnan(after_again) and identical

others = [other for i, other in enumerate(order[:16]) if i != k]  # the other batches of its epoch
attempts = {
    "parameters": [repeat(saved, "parameters", seed=s) for s in range(10)],
    "optimizer": [repeat(saved, "optimizer")],
    "rng": [repeat(saved, "rng", seed=s) for s in range(20)],
    "ids": [repeat(saved, "ids", other_ids=other) for other in others],
    "config": [repeat(saved, "config")],
}
for name, results in attempts.items():
    print(f"without {name:15s} NaN in {sum(math.isnan(r[1]) for r in results)} of {len(results)}, "
          f"smallest sigma {min(r[2][-1].item() for r in results):.2f}")
    assert all(math.isfinite(after) for _, after, _ in results)

# %% [markdown]
# Two details are worth a second look.
#
# - An optimizer's `state_dict` carries its learning rate and momentum too. Without the configuration they come back
#   with the optimizer; the dropout rate does not. Save the configuration as a whole.
# - The order of the batches does not come from the saved random state here, as it often doesn't: a loader has a
#   generator, or workers, of its own. That is why the ids themselves are saved.
#
# ## 0.3 What a curve can't say
#
# **A loss curve alone does not support a hardware cause.** The incident above is made up, and its cause was a sign:
# nothing kept σ positive. Its curve, finite and then NaN, would look the same after a bad memory cell, an outlier in
# the data, or an overflow. A failure that comes back at the same step is no evidence for hardware either: this one
# came back bit for bit, from software alone.
#
# What would speak for hardware is an observation that software can't explain: the same saved state and ids give
# different bits on one device and not on another, or the device itself reports errors. Both need what 0.2 saves.
# Without it, "the hardware did it" can be neither shown nor refuted, and a claim that nothing can refute is not a
# diagnosis.
#
# ## What to take along
#
# - No exception is not a result. Ask which number would have been different.
# - Beside every claim a control; beside every metric a case whose answer you know.
# - Parameters, optimizer state, random state, batch ids, configuration: five things, saved before the update.
#
# Next: the cheapest of all tests, a few examples that must be learned by heart (notebook 01).
