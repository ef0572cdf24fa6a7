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
# # 04 · Train against validation
#
# Two curves lie on one plot, and the gap between them is read like a horoscope. This notebook asks first whether
# the two numbers may be compared at all: were they measured in the same mode, made of the same terms, divided by
# the same count, and on rows that do not know each other?
#
# Two beliefs meet a measurement on the way:
#
# - *A training loss above the validation loss means that something leaks.* (4.2)
# - *A low validation loss means that the model is ready.* (4.1, 4.4)
#
# After it you can measure two losses that may be compared, bring two logs to one unit, split rows so that the
# validation set stands for what comes later, find a leak in a split, and fit a scaler that has seen nothing it
# should not.

# %% tags=["setup"] nbgrader={"grade_id": "setup-04", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import copy
import random
from collections import Counter

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, explore, hint, solution

# %matplotlib inline
torch.set_num_threads(1)
torch.manual_seed(4)
random.seed(4)
plt.rcParams.update({"figure.figsize": (6.4, 3.2), "figure.dpi": 90, "axes.grid": True, "grid.alpha": 0.3})

# %% [markdown]
# ## 4.1 Both losses low, and still not ready
#
# The data: 40 people, ten measurements each. A person has a signature of 16 numbers; each measurement is that
# signature and some noise. The label belongs to the person. In the world called `arbitrary` it was tossed like a
# coin and has nothing to do with the signature; in the world called `shared` it follows one direction that is the
# same for everybody.


# %%
def people(count, rows_each, world, seed, noise=0.3):
    """Rows (count * rows_each, 16), labels and person numbers of a population; `shared` labels can be learned."""
    g = torch.Generator().manual_seed(seed)
    signature = torch.randn(count, 16, generator=g)
    coin = torch.randint(0, 2, (count,), generator=g)
    label = coin if world == "arbitrary" else (signature[:, :4].sum(1) > 0).long()
    if world == "shared":  # a margin, so that the direction can be found from 40 people
        signature[:, :4] += (2.0 * label - 1)[:, None]
    person = torch.arange(count).repeat_interleave(rows_each)
    x = signature[person] + noise * torch.randn(len(person), 16, generator=g)
    return x, label[person], person


def fit(x, y, steps=150, seed=0):
    """A small network trained on all rows at once."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model


def loss_on(model, x, y):
    with torch.no_grad():
        return F.cross_entropy(model(x), y).item()


# %% [markdown]
# **Claim.** Low training loss and low validation loss together do not say that the model works where it will be
# used. Below, rows are shuffled and every fifth goes to validation, so that each person stands on both sides. Then
# 40 *new* people come.

# %% tags=["claim-4.1"]
def three_losses(world):
    """Loss on training rows, on shuffled validation rows, and on people never seen."""
    x, y, _ = people(40, 10, world, seed=1)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    val, train = order[:80], order[80:]
    model = fit(x[train], y[train])
    new_x, new_y, _ = people(40, 10, world, seed=2)
    return loss_on(model, x[train], y[train]), loss_on(model, x[val], y[val]), loss_on(model, new_x, new_y)


coin_flip = torch.log(torch.tensor(2.0)).item()
train_loss, val_loss, new_loss = three_losses("arbitrary")
print("labels tossed for each person")
print(f"  training below 0.1: {train_loss < 0.1}, validation below 0.1: {val_loss < 0.1}")
print(f"  new people, worse than a coin flip ({coin_flip:.2f}): {new_loss > coin_flip}")
assert train_loss < 0.1 and val_loss < 0.1 and new_loss > coin_flip

# %% [markdown]
# The model learned who is who. Nothing else could be learned, and validation praised it for that.
#
# **Control.** If the procedure itself were at fault (the network, the optimizer, the split), it would fail on new
# people in the other world too. It does not: where the label follows something that people share, the same rows,
# steps and split give a model that holds.

# %% tags=["claim-4.1"]
train_loss, val_loss, new_loss = three_losses("shared")
print(f"labels that follow a shared direction: new people below 0.35: {new_loss < 0.35}")
assert train_loss < 0.1 and val_loss < 0.1 and new_loss < 0.35

# %% [markdown]
# ## 4.2 A training loss above the validation loss
#
# **Claim.** With dropout on, the training loss that a loop logs naturally lies above the validation loss, with no
# leak anywhere. The two are measured on two different networks: one with most of its units removed at random, one
# whole. Measured in one mode, the order turns around.
#
# All rows below are drawn fresh and independently; no row of one side has anything to do with a row of the other.


# %%
def modes_run(p, steps=120):
    """Three losses at each step: as logged (dropout on), the same training rows in eval mode, validation rows."""
    g = torch.Generator().manual_seed(7)
    direction = torch.randn(16, generator=g)

    def draw(n):
        x = torch.randn(n, 16, generator=g)
        return x, (x @ direction + 0.5 * torch.randn(n, generator=g) > 0).long()

    (x, y), (val_x, val_y) = draw(3000), draw(2000)
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    logged, again, val = [], [], []
    for _ in range(steps):
        model.eval()
        again.append(loss_on(model, x, y))
        val.append(loss_on(model, val_x, val_y))
        model.train()
        loss = F.cross_entropy(model(x), y)
        logged.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return logged, again, val


def mean_of(values, first, last):
    return sum(values[first:last]) / (last - first)


# %% tags=["claim-4.2"]
logged, again, val = modes_run(p=0.8)
window = (20, 60)
a, b, c = (mean_of(curve, *window) for curve in (logged, again, val))
print(f"steps {window[0]} to {window[1]}, dropout 0.8")
print(f"  logged training loss above validation loss: {a > c}")
print(f"  training rows in eval mode below validation loss: {b < c}")
assert a > c + 0.02 and b < c - 0.003

# %% [markdown]
# **Control.** Were anything but the mode the cause, it would stay when dropout goes. With `p = 0` the logged loss
# and the re-measured loss are the same number at every step.

# %% tags=["claim-4.2"]
logged, again, val = modes_run(p=0.0, steps=40)
assert max(abs(a - b) for a, b in zip(logged, again)) < 1e-6
print("p = 0: logged and re-measured training loss agree to 1e-6 at every step")


# %%
def plot_modes(p=0.8):
    """Three curves of one run; told apart by line style and label."""
    logged, again, val = modes_run(p)
    fig, ax = plt.subplots()
    ax.plot(logged, linestyle=":", marker="o", markevery=15, markersize=4, label="train, as logged (dropout on)")
    ax.plot(val, linestyle="-", linewidth=2, label="validation (eval mode)")
    ax.plot(again, linestyle="--", marker="s", markevery=15, markersize=4, label="the same train rows, eval mode")
    ax.set(xlabel="step", ylabel="cross entropy", title=f"One run, dropout {p:g}", ylim=(0, 0.45))
    ax.legend(fontsize=8)
    fig.tight_layout()
    plt.show()


plot_modes()

# %% [markdown]
# *Dotted: what the loop logs. Dashed: the very same rows and weights, measured as validation rows are. The gap
# between dotted and dashed is the price of dropout in this mode and says nothing of generalization; the gap between
# dashed and solid does.*

# %% tags=["widget", "nbval-skip"]
explore(plot_modes, {"p": "dropout p"}, p=(0, 0.9, 0.1))

# %% [markdown]
# {{exercise 4.2}}
#
# Measure training and validation loss in one mode and of one kind of term, with the penalty told apart. Leave no
# trace: each module in the mode in which it was found, buffers untouched, no graph recorded.


# %% nbgrader={"grade_id": "same-terms", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def same_terms(
    model: nn.Module,
    train: list[tuple[torch.Tensor, torch.Tensor]],
    val: list[tuple[torch.Tensor, torch.Tensor]],
    weight_decay: float,
) -> dict[str, float]:
    """Training loss, validation loss and penalty of a classifier, as three separate numbers.

    model: may hold dropout and batch norm; its modules may be in different modes.
    train, val: batches (x of shape (N, 6) float32, y of shape (N,) int64); N differs from batch to batch.

    Returns a dict of Python floats:
        "train", "val": mean cross entropy per row, over all rows of all batches, in eval mode, without penalty;
        "penalty": weight_decay / 2 times the sum of the squares of all parameters, frozen ones included.
    Afterwards every module is in the mode it was in before, parameters and buffers are unchanged, and no forward
    pass has recorded a graph.

    Example: one weight of 2.0 and a weight_decay of 1.0 give a penalty of 2.0.
    """
    ### BEGIN SOLUTION
    modes = [(module, module.training) for module in model.modules()]

    def mean_loss(batches):
        total = sum(F.cross_entropy(model(x), y, reduction="sum").item() for x, y in batches)
        return total / sum(len(y) for _, y in batches)

    model.eval()
    try:
        with torch.no_grad():
            squares = sum(p.square().sum().item() for p in model.parameters())
            return {"train": mean_loss(train), "val": mean_loss(val), "penalty": weight_decay / 2 * squares}
    finally:
        for module, mode in modes:
            module.training = mode
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-4-2", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("4.2", same_terms)
### BEGIN HIDDEN TESTS
check("4.2", same_terms, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 4.3 Like with like
#
# **Claim.** A "loss" is four choices besides the data: which terms, which weights, which positions count, and what
# the sum is divided by. One model on one set of targets can be logged as many different numbers.
#
# Eight scored targets in two batches, the second of them mostly padding. Nothing differs between the bars below but the recipe.

# %%
nll = torch.tensor([[0.2, 0.4, 0.3, 0.1, 0.5, 0.3], [2.0, 3.0, 9.0, 9.0, 9.0, 9.0]])  # each row is a batch
scored = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0]], dtype=torch.bool)  # the rest is padding
target_class = torch.tensor([[0, 0, 1, 0, 0, 1], [1, 1, 0, 0, 0, 0]])
class_weight = torch.tensor([1.0, 4.0])
penalty = 0.7


def recipes():
    """The same losses under six recipes."""
    kept = nll * scored
    weight = class_weight[target_class] * scored
    return {
        "per scored target": (kept.sum() / scored.sum()).item(),
        "mean of batch means": (kept.sum(1) / scored.sum(1)).mean().item(),
        "padding in the count": (kept.sum() / scored.numel()).item(),
        "class weights": ((kept * weight).sum() / weight.sum()).item(),
        "with the penalty": (kept.sum() / scored.sum()).item() + penalty,
        "sum of a batch": kept.sum(1).mean().item(),
    }


# %% tags=["claim-4.3"]
for name, value in recipes().items():
    print(f"{name:22} {value:.3f}")
values = list(recipes().values())
assert abs(values[0] - 0.85) < 1e-6
assert min(abs(a - b) for i, a in enumerate(values) for b in values[:i]) > 0.1  # six recipes, six numbers


# %%
def plot_recipes(reference="per scored target"):
    """Bars of the six recipes; the reference has the dense hatch and a line down through all bars."""
    values = recipes()
    fig, ax = plt.subplots()
    hatches = ["xxx" if name == reference else "" for name in values]
    bars = ax.barh(list(values), list(values.values()), color="0.8", edgecolor="black", hatch=hatches)
    ax.bar_label(bars, [f"{v:.2f}  ({v / values[reference]:.1f} times)" for v in values.values()], padding=3, fontsize=8)
    ax.axvline(values[reference], linestyle="--", color="black", linewidth=1)
    ax.set(xlabel="logged as the loss", xlim=(0, 4.6), title="One model, one set of targets")
    ax.invert_yaxis()
    fig.tight_layout()
    plt.show()


plot_recipes()

# %% [markdown]
# *Each bar is made of the same targets. The hatched bar is the reference, the dashed line its value. Two runs may be
# compared only when both were logged by the same recipe.*

# %% tags=["widget", "nbval-skip"]
explore(plot_recipes, reference=list(recipes()))

# %% [markdown]
# **Control.** The differences must vanish when the recipes have nothing to differ about: equal batch sizes, no
# padding, weights of one, no penalty.

# %% tags=["claim-4.3"]
saved = scored, class_weight, penalty
scored, class_weight, penalty = torch.ones_like(scored), torch.ones(2), 0.0
level = recipes()
scored, class_weight, penalty = saved
del level["sum of a batch"]  # a sum stays a sum: it is a mean times six
print(f"five recipes, distinct values: {len({round(v, 5) for v in level.values()})}")
assert max(level.values()) - min(level.values()) < 1e-5

# %% [markdown]
# **Some recipes can be undone, and some cannot.** A mean becomes a sum again once the count is known, and a penalty
# can be taken off. A weighted mean that was reduced before it was logged is gone: below, two runs log the same
# weighted loss, and their plain losses differ by a factor. So log sums, counts and terms apart.

# %% tags=["claim-4.3"]
weights = torch.tensor([1.0, 4.0])
run_p, run_q = torch.tensor([4.0, 0.25]), torch.tensor([0.0, 1.25])  # one target of each class
logged_p, logged_q = ((weights * run).sum() / weights.sum() for run in (run_p, run_q))
print(f"logged {logged_p:.3f} and {logged_q:.3f}; plain {run_p.mean():.3f} and {run_q.mean():.3f}")
assert torch.equal(logged_p, logged_q) and run_p.mean() > 3 * run_q.mean()

# %% [markdown]
# {{exercise 4.3}}
#
# Two runs logged their batches by different recipes. Bring both to one unit: plain loss per scored target, over all
# batches together.


# %% nbgrader={"grade_id": "comparable-losses", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def comparable_losses(run_a: dict, run_b: dict) -> tuple[float, float]:
    """Loss per scored target of two runs: no class weights, no penalty, every scored target counts once.

    A run is a dict:
        "reduction": "none", "mean" or "sum": what "loss" is in each batch;
        "penalty": float, added once to the loss of each batch (0.0 where the reduction is "none");
        "class_weights": float tensor of shape (4,), or None; given with "none" only. The loss of a target was
            multiplied by the weight of its class;
        "batches": list of dicts, batches may differ in size:
            "targets": (rows, 5) int64, -100 where a target is not scored;
            "mask": (rows, 5) bool, True where a target is scored;
            "loss": with "none" a (rows, 5) tensor, of which the masked places hold anything;
                with "mean" a float, the mean over the batch's scored targets, plus the penalty;
                with "sum" a float, the sum over them, plus the penalty.
    A batch may have no scored target at all; its mean is then NaN, and it adds nothing.

    Example: means 1.0 over 2 targets and 4.0 over 8 targets give 3.4, not 2.5.
    Returns two Python floats, for run_a and run_b.
    """
    ### BEGIN SOLUTION
    def plain(run):
        total, count = 0.0, 0
        for batch in run["batches"]:
            mask = batch["mask"]
            n = int(mask.sum())
            if n == 0:
                continue
            count += n
            if run["reduction"] == "none":
                losses = batch["loss"][mask]
                if run["class_weights"] is not None:
                    losses = losses / run["class_weights"][batch["targets"][mask]]
                total += losses.sum().item()
            else:
                total += (batch["loss"] - run["penalty"]) * (n if run["reduction"] == "mean" else 1)
        return total / count

    return plain(run_a), plain(run_b)
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-4-3", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("4.3", comparable_losses)
### BEGIN HIDDEN TESTS
check("4.3", comparable_losses, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 4.4 Split by what arrives later
#
# **Claim.** Validation stands for the future only if its rows are as far from the training rows as the future's
# are. If new *people* will come, whole people are held out; if new *documents*, whole families of documents; if
# *later days*, the last days. Shuffled rows answer another question: how well are more rows of known people
# predicted?

# %% tags=["claim-4.4"]
def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).double().mean().item()


def estimates(rows_each, world="arbitrary", count=40):
    """Accuracy that a row split promises, that held-out people promise, and that new people then give."""
    x, y, person = people(count, rows_each, world, seed=1)
    new_x, new_y, _ = people(400, 1, world, seed=2)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    by_row = torch.zeros(len(x), dtype=torch.bool)
    by_row[order[: len(x) // 4]] = True
    by_person = person < count // 4  # the signatures came in no order, so the first people are as good as any
    promised = []
    for held_out in (by_row, by_person):
        model = fit(x[~held_out], y[~held_out])
        promised.append(accuracy(model, x[held_out], y[held_out]))
    return promised[0], promised[1], accuracy(model, new_x, new_y)


row_promise, person_promise, delivered = estimates(rows_each=10)
print(f"row split promises more than 0.95: {row_promise > 0.95}")
print(f"held-out people promise less than 0.7: {person_promise < 0.7}; new people give less than 0.6: {delivered < 0.6}")
assert row_promise > 0.95 and person_promise < 0.7 and delivered < 0.6

# %% [markdown]
# **Control.** If shuffling rows were wrong in itself, it would also mislead where rows have nothing in common. With
# one row for each person, both splits promise about the same.

# %% tags=["claim-4.4"]
row_promise, person_promise, delivered = estimates(rows_each=1, world="shared", count=400)
print(f"one row each: promises within 0.1 of each other and of what comes: "
      f"{max(abs(row_promise - person_promise), abs(row_promise - delivered)) < 0.1}")
assert abs(row_promise - person_promise) < 0.1 and abs(row_promise - delivered) < 0.1


# %%
def plot_splits(rows_each=8, share=0.25):
    """The same rows under two splits: who stands on which side, and what each split promises."""
    count = 12
    person = torch.arange(count).repeat_interleave(rows_each)
    row = torch.arange(rows_each).repeat(count)
    by_row = torch.rand(len(person), generator=torch.Generator().manual_seed(2)) < share
    by_person = torch.isin(person, torch.tensor([2, 7, 10, 5, 0, 8][: max(1, round(share * count))]))
    fig, axes = plt.subplots(1, 2, sharey=True)
    for ax, val, name in zip(axes, (by_row, by_person), ("rows shuffled", "people held out")):
        ax.scatter(row[~val], person[~val], marker=".", s=30, color="0.6", label="training")
        ax.scatter(row[val], person[val], marker="X", s=45, color="black", label="validation")
        both = sum(bool(val[person == p].any()) and not bool(val[person == p].all()) for p in range(count))
        ax.set(title=f"{name}\n{both} of {count} people on both sides", xlabel="measurement", yticks=range(0, count, 2), ylim=(-1, count + 3))
        ax.title.set_fontsize(9)
    axes[0].set_ylabel("person")
    axes[1].legend(fontsize=7, loc="upper center", ncols=2, framealpha=1)
    fig.tight_layout()
    plt.show()
    assert both == 0  # the right-hand split: no person on both sides


plot_splits()

# %% [markdown]
# *Each line is a person, each mark a measurement; crosses are held out. Left, almost every line holds both marks:
# whoever recognizes a person knows the label. Right, each line is of one kind.*

# %% tags=["widget", "nbval-skip"]
explore(plot_splits, {"rows_each": "rows a person", "share": "share held out"}, rows_each=(1, 12, 1), share=(0.1, 0.5, 0.05))

# %% [markdown]
# **Time is a group as well.** A value that wanders from day to day is guessed below by copying the nearest day of
# the training set. With days held out at random, yesterday and tomorrow are nearly always known. With the last days
# held out, as it will be in use, they are not. The control: a value without a memory is as hard either way.

# %% tags=["claim-4.4"]
def nearest_day_error(memory):
    """Mean squared error of copying the nearest known day: days held out at random, and the last days."""
    g = torch.Generator().manual_seed(9)
    steps = torch.randn(40, 400, generator=g)
    value = steps.cumsum(1) if memory else steps
    random_days = torch.rand(400, generator=g) < 0.2
    last_days = torch.arange(400) >= 320
    errors = []
    for held_out in (random_days, last_days):
        known = (~held_out).nonzero().flatten()
        asked = held_out.nonzero().flatten()
        nearest = known[(asked[:, None] - known[None, :]).abs().argmin(1)]
        errors.append((value[:, asked] - value[:, nearest]).square().mean().item())
    return errors


at_random, at_end = nearest_day_error(memory=True)
print(f"a wandering value: the last days are more than 10 times as hard: {at_end > 10 * at_random}")
plain_random, plain_end = nearest_day_error(memory=False)
print(f"a value without memory: as hard either way, to within half: {0.5 < plain_end / plain_random < 1.5}")
assert at_end > 10 * at_random and 0.5 < plain_end / plain_random < 1.5

# %% [markdown]
# {{exercise 4.4a}}
#
# Split rows so that each group lies on one side as a whole, and the share of *rows* is about what was asked for.


# %% nbgrader={"grade_id": "group-split", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def group_split(groups: list[str], fraction: float) -> tuple[list[int], list[int]]:
    """Rows for training and rows for validation, with no group on both sides.

    groups: the group of each row, at least two different ones, in any order and of any size.
    fraction: wanted share of the rows (not of the groups) in validation, between 0 and 1.

    Returns (training rows, validation rows), two lists of plain ints in any order. Each row is on exactly one side,
    neither side is empty, and the number of validation rows differs from fraction * len(groups) by at most the size
    of the largest group. Which groups are held out is your choice.

    Example: group_split(["a", "b", "a", "c"], 0.25) may give ([0, 1, 2], [3]).
    """
    ### BEGIN SOLUTION
    sizes = Counter(groups)
    names = sorted(sizes)
    random.Random(0).shuffle(names)
    held_out, rows = set(), 0
    for name in names[:-1]:
        if held_out and rows + sizes[name] > fraction * len(groups):
            break
        held_out.add(name)
        rows += sizes[name]
    train = [row for row, name in enumerate(groups) if name not in held_out]
    val = [row for row, name in enumerate(groups) if name in held_out]
    return train, val
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-4-4a", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("4.4a", group_split)
### BEGIN HIDDEN TESTS
check("4.4a", group_split, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### Rows that know each other without a common name
#
# **Claim.** A split can be clean by its group names and leak all the same: a file exported twice, an image saved at
# another quality, a measurement rounded once more. Such twins are not equal to the last bit, and a comparison for
# equality passes over them. One number catches them: the *largest* difference over all features.

# %% tags=["claim-4.4"]
original = torch.tensor([0.612, -1.204, 0.333, 2.871])
rounded = torch.tensor([0.61, -1.20, 0.33, 2.87])  # the same measurement, exported with two digits
stranger = torch.tensor([1.612, -2.204, 1.333, 1.871])  # differs by one in every feature, and the signs cancel
for name, other in (("twin", rounded), ("stranger", stranger)):
    difference = original - other
    print(f"{name:9} equal: {torch.equal(original, other)!s:6} sum of differences: {abs(difference.sum().item()):.3f}"
          f"  largest difference: {difference.abs().max().item():.3f}")
assert not torch.equal(original, rounded) and (original - rounded).abs().max() < 0.01
# control: a measure that lets differences cancel calls the stranger a twin; the largest difference does not
assert (original - stranger).sum().abs() < 0.01 and (original - stranger).abs().max() > 0.9

# %% [markdown]
# {{exercise 4.4b}}
#
# Audit a finished split: which groups stand on both sides, and which rows have a twin across it?


# %% nbgrader={"grade_id": "leakage-audit", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def leakage_audit(
    train: torch.Tensor,
    train_groups: list[str],
    val: torch.Tensor,
    val_groups: list[str],
    tolerance: float,
) -> dict[str, list]:
    """What a split shares between its sides.

    train: (N, D) float32 features, train_groups: the group of each of its rows; val and val_groups likewise.
    tolerance: two rows are twins if no feature differs by more than this.

    Returns a dict:
        "groups": list of the names that occur on both sides, each once;
        "pairs": list of (training row, validation row), tuples of plain ints, one for each pair of twins.
    Twins within one side are no leak. The order within the lists is free; a clean split gives two empty lists.
    """
    ### BEGIN SOLUTION
    gap = (train[:, None, :] - val[None, :, :]).abs().amax(dim=2)
    pairs = [(i, j) for i, j in (gap <= tolerance).nonzero().tolist()]
    return {"groups": sorted(set(train_groups) & set(val_groups)), "pairs": pairs}
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-4-4b", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("4.4b", leakage_audit)
### BEGIN HIDDEN TESTS
check("4.4b", leakage_audit, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 4.5 Preprocessing is fitted too
#
# **Claim.** A mean and a standard deviation are parameters learned from data. Fitted before the split they carry
# the validation rows into training. The test needs no theory: change one validation row and see whether anything
# fitted has changed.

# %% tags=["claim-4.5"]
g = torch.Generator().manual_seed(5)
train_rows = torch.randn(60, 1, generator=g)
val_rows = torch.randn(60, 1, generator=g) + 3.0  # validation was measured elsewhere
everything = torch.cat([train_rows, val_rows])
print(f"training rows alone: mean {train_rows.mean().item():.1f}, std {train_rows.std().item():.1f}")
print(f"fitted before the split: mean {everything.mean().item():.1f}, std {everything.std().item():.1f}")


def moves(change_val, change_train, before_split):
    """Does the fitted mean move when a row of one side changes?"""
    a, b = train_rows.clone(), val_rows.clone()
    b[0] += 10.0 * change_val
    a[0] += 10.0 * change_train
    fitted, was = (torch.cat([a, b]), everything) if before_split else (a, train_rows)
    return bool((fitted.mean() - was.mean()).abs() > 0.01)


print("a validation row changes; fitted before the split moves:", moves(1, 0, True), " after it:", moves(1, 0, False))
assert moves(1, 0, before_split=True) and not moves(1, 0, before_split=False)
# control: a training row moves both, so the test does see changes
assert moves(0, 1, before_split=True) and moves(0, 1, before_split=False)

# %% [markdown]
# It shifts what validation reports, too: scaled by the training rows alone, the validation rows arrive three units
# away, which is what the model will meet. Scaled by everything, they look half as strange as they are.

# %% tags=["claim-4.5"]
honest = ((val_rows - train_rows.mean()) / train_rows.std()).mean().item()
flattered = ((val_rows - everything.mean()) / everything.std()).mean().item()
print(f"validation rows lie {honest:.0f} training units away; fitted before the split: {flattered:.0f}")
assert honest > 2.5 and flattered < 1.2

# %% [markdown]
# {{exercise 4.5}}
#
# Fit a scaler on the training rows of a mixed table. Tables have holes, columns that never change, and numbers so
# large that their squares lose the last digits.


# %% nbgrader={"grade_id": "fit-scaler", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def fit_scaler(rows: torch.Tensor, is_train: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and standard deviation of each column, from the training rows alone.

    rows: (N, 4) float32, NaN where a value is missing.
    is_train: (N,) bool; training and validation rows are mixed.

    Returns (mean, std), both float64 of shape (4,), right to one part in a million of the spread:
        a missing value is left out of its own column, and of no other;
        std divides by the number of values (not one less);
        a column whose training values are all equal, or of which there is only one, has std 1;
        a column without any training value has mean 0 and std 1.

    Example: training values 1, 3 and NaN give mean 2 and std 1.
    """
    ### BEGIN SOLUTION
    x = rows[is_train].double()  # differences of large float32 numbers need the room
    mean = x.nanmean(dim=0)
    std = (x - mean).square().nanmean(dim=0).sqrt()  # the mean comes off before squaring
    std = torch.where(std.isnan() | (std == 0), 1.0, std)
    return mean.nan_to_num(0.0), std
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-4-5", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("4.5", fit_scaler)
### BEGIN HIDDEN TESTS
check("4.5", fit_scaler, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## What to take along
#
# | Before you read a gap between two curves | the control that settles it |
# |---|---|
# | same mode? | measure the training rows in eval mode as well |
# | same terms, weights, positions, denominator? | log sums and counts apart; rebuild both numbers |
# | do rows across the split know each other? | hold out whole groups; look for twins |
# | was anything fitted on validation rows? | change one validation row: nothing fitted may move |
#
# A gap that survives all four is worth an explanation. A *missing* gap that has not been through them is worth one
# too.
