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
# # 05 · Histograms and monitors
#
# A loss is one number a step. Between the loss and a bug lie thousands of weights, gradients and activations, and
# a few statistics of each say where to look. This notebook measures them, shows what a histogram can and can't
# tell, and ends with a monitor that leaves the model as it found it.
#
# By the end you can
#
# - compute statistics that survive any tensor a run produces: NaN, empty, integer, half precision;
# - tell three causes of a spike at zero apart;
# - compare a layer with its own past, not with a bell curve;
# - watch a run through hooks, and remove every hook even when the forward raises.

# %% tags=["setup"] nbgrader={"grade_id": "setup-05", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import math
import tempfile
from typing import Any, Iterable

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, explore, hint, solution

# %matplotlib inline
torch.set_num_threads(1)
torch.manual_seed(5)
plt.rcParams.update(
    {"figure.figsize": (6.4, 3.2), "figure.dpi": 90, "axes.spines.top": False, "axes.spines.right": False}
)

# %% [markdown]
# ## 5.1 Six numbers for each tensor
#
# **Claim.** A mean and a standard deviation alone hide what matters most. Six numbers, kept for every layer, name
# the trouble: mean, standard deviation, **finite fraction**, **zero fraction**, **norm**, and **relative update**,
# which is how far a step moved the tensor, measured against its size.
#
# Below, four tensors are tried that a standard deviation cannot part.

# %% tags=["claim-5.1"]
generator = torch.Generator().manual_seed(51)
healthy = torch.randn(1000, generator=generator)
half_dead = healthy * math.sqrt(2)
half_dead[::2] = 0
one_nan = healthy.clone()
one_nan[0] = math.nan
frozen = healthy.clone()

samples = {
    "healthy": (healthy, healthy + 0.001 * torch.randn(1000, generator=generator)),
    "half dead": (half_dead, half_dead * 1.001),
    "one NaN": (one_nan, one_nan * 1.001),
    "frozen": (frozen, frozen.clone()),
}
table = {}
print(f"{'tensor':10} {'std':>5} {'finite':>7} {'zero':>5} {'relative update':>16}")
for name, (before, after) in samples.items():
    kept = before[before.isfinite()]
    moved = (after - before)[before.isfinite()].norm() / kept.norm()
    table[name] = (kept.std().item(), before.isfinite().double().mean().item(),
                   (before == 0).double().mean().item(), moved.item())  # fmt: skip
    std, finite, zero, relative = table[name]
    print(f"{name:10} {std:5.1f} {finite:7.3f} {zero:5.1f} {relative:16.3f}")

assert all(abs(row[0] - 1) < 0.1 for row in table.values())  # the spread parts none of them
assert [name for name, row in table.items() if row[1] < 1] == ["one NaN"]
assert [name for name, row in table.items() if row[2] > 0.1] == ["half dead"]
assert [name for name, row in table.items() if row[3] == 0] == ["frozen"]

# %% [markdown]
# The control: by standard deviation all four are 1.0. Each fault is visible in exactly one of the other columns.
#
# A statistic is only useful if it can be computed on the worst tensor of the run, because that is the one you want
# to see. `mean()` refuses integers, `view(-1)` refuses a transposed tensor, squares overflow in float32, and one
# NaN makes every sum NaN.

# %% tags=["claim-5.1"]
pixels = torch.tensor([10, 200], dtype=torch.uint8)
wrapped = (pixels - torch.tensor([20, 100], dtype=torch.uint8)).tolist()
large = torch.full((4,), 1e30)
print("10 - 20 and 200 - 100 in uint8:", wrapped)
print("squares of 1e30 summed in float32:", large.square().sum().item())
print("the same in float64:", f"{large.double().square().sum().item():.0e}")
print("norm with one NaN inside:", one_nan.norm().item())
refusals = []
for attempt in (lambda: pixels.mean(), lambda: torch.zeros(2, 3).t().view(-1)):
    try:
        attempt()
    except RuntimeError as error:
        refusals.append(type(error).__name__)
print("mean of uint8, view of a transposed tensor:", refusals)
assert len(refusals) == 2
assert wrapped == [246, 100] and math.isinf(large.square().sum().item())
assert math.isfinite(large.double().square().sum().item()) and math.isnan(one_nan.norm().item())

# %% [markdown]
# {{exercise 5.1}}
#
# Write the six statistics so that they hold for any real tensor: any shape, any dtype, with or without non-finite
# entries. Where a statistic has nothing to stand on, the docstring says what to return.


# %% nbgrader={"grade_id": "tensor-stats", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def tensor_stats(tensor: Tensor, previous: Tensor | None = None) -> dict[str, float]:
    """Six statistics of one tensor, computed in float64.

    tensor: any shape (also no entries), any real dtype, contiguous or not, with or without a graph.
    previous: the same tensor before the step, same shape and dtype; or None.
    Returns: a dict of Python floats
        "mean", "std": of the finite entries; std divides by their number n, not n - 1. nan if there are none.
        "finite", "zero": the fraction of all entries that are finite, that are zero. nan if there are no entries.
        "norm": square root of the sum of squares of the finite entries; 0.0 if there are none.
        "relative_update": norm(tensor - previous) / norm(previous), each norm over its finite entries;
            if norm(previous) is 0: inf when norm(tensor - previous) is positive, else 0.0; nan if previous is None.

    Example: tensor_stats(torch.tensor([3.0, 0.0, -4.0, 1.0]), torch.tensor([3.0, 0.0, -4.0, 0.0])) has
    mean 0.0, finite 1.0, zero 0.25, norm sqrt(26) and relative_update 0.2.
    """

    ### BEGIN SOLUTION
    def finite_entries(t: Tensor) -> Tensor:
        flat = t.detach().to(torch.float64).reshape(-1)
        return flat[torch.isfinite(flat)]

    def norm(t: Tensor) -> float:
        return finite_entries(t).square().sum().sqrt().item()

    def fraction(count: int) -> float:
        return count / tensor.numel() if tensor.numel() else math.nan

    values = finite_entries(tensor)
    relative = math.nan
    if previous is not None:
        # float64 before the subtraction: uint8 wraps and half precision overflows
        moved, size = norm(tensor.to(torch.float64) - previous.to(torch.float64)), norm(previous)
        if size > 0:
            relative = moved / size
        else:
            relative = math.inf if moved > 0 else 0.0
    return {
        "mean": values.mean().item(),
        "std": values.std(correction=0).item() if len(values) else math.nan,
        "finite": fraction(len(values)),
        "zero": fraction(int((tensor == 0).sum())),
        "norm": norm(tensor),
        "relative_update": relative,
    }
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-5-1", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("5.1", tensor_stats)
### BEGIN HIDDEN TESTS
check("5.1", tensor_stats, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Your statistics at work: three layers, one of them left out of the optimizer by mistake. Which column finds it?

# %% tags=["uses-answer"]
torch.manual_seed(510)
small = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD([*small[0].parameters(), *small[4].parameters()], lr=0.1)  # small[2] is missing
inputs, labels = torch.randn(32, 6), torch.randint(0, 3, (32,))
was = {name: p.detach().clone() for name, p in small.named_parameters()}
F.cross_entropy(small(inputs), labels).backward()
optimizer.step()
try:
    for name, p in small.named_parameters():
        row = tensor_stats(p, was[name])
        print(
            f"{name:9} std {row['std']:.2f}  zero {row['zero']:.2f}  relative update {row['relative_update']:.3f}"
        )
except NotImplementedError:
    print("tensor_stats is still to be written: exercise 5.1")

# %% [markdown]
# ## 5.2 A healthy histogram need not be a bell
#
# **Claim.** In a run that works, weights, biases, activations and embeddings need be neither Gaussian nor
# symmetric. Shape alone is no symptom.
#
# A small classifier is trained on tokens whose frequencies fall as 1/rank, with an L1 penalty on one layer. It
# learns its task; then its tensors are measured by **skewness** (0 if symmetric) and **excess kurtosis** (0 for a
# Gaussian; positive with a sharp peak and long tails).


# %%
def shape_of(t: Tensor) -> tuple[float, float]:
    """Skewness and excess kurtosis of a tensor's entries."""
    z = t.detach().double().flatten()
    z = (z - z.mean()) / z.std(correction=0)
    return z.pow(3).mean().item(), z.pow(4).mean().item() - 3


def train_token_model(
    vocabulary: int = 200, steps: int = 400
) -> tuple[nn.Embedding, nn.Sequential, Tensor, Tensor]:
    """Train on 1/rank tokens. Returns the embedding, the head, each token's label and the embedding at the start."""
    torch.manual_seed(52)
    frequency = 1 / torch.arange(1, vocabulary + 1)
    token_labels = torch.randint(0, 4, (vocabulary,))
    embedding = nn.Embedding(vocabulary, 16)
    head = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
    start = embedding.weight.detach().clone()
    sgd = torch.optim.SGD([*embedding.parameters(), *head.parameters()], lr=1.0)
    for _ in range(steps):
        tokens = torch.multinomial(frequency, 64, replacement=True)
        loss = (
            F.cross_entropy(head(embedding(tokens)), token_labels[tokens]) + 5e-4 * head[0].weight.abs().sum()
        )
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    return embedding, head, token_labels, start


# %% tags=["claim-5.2"]
embedding, head, token_labels, start = train_token_model()
with torch.no_grad():
    hidden = head[1](head[0](embedding.weight))
    accuracy = (head[2](hidden).argmax(1) == token_labels).double().mean().item()
moved = (embedding.weight.detach() - start).norm(dim=1)
shapes = {
    "weight under L1": head[0].weight,
    "activations": hidden,
    "embedding rows: distance moved": moved,
    "control: 1024 normal draws": torch.randn(1024, generator=torch.Generator().manual_seed(52)),
}
figure, axes = plt.subplots(2, 2, figsize=(6.4, 4.0))
for axis, (name, t) in zip(axes.flat, shapes.items()):
    skew, kurtosis = shape_of(t)
    axis.hist(t.detach().flatten().numpy(), bins=40, color="0.6", edgecolor="0.2", linewidth=0.4)
    axis.set_title(f"{name}\nskewness {skew:.1f}, kurtosis {kurtosis:.1f}", fontsize=8)
    axis.tick_params(labelsize=7)
figure.supylabel("entries", fontsize=8)
figure.tight_layout()

control = shape_of(shapes["control: 1024 normal draws"])
facts = {
    "every token but a few is classified right": accuracy > 0.95,
    "weight under L1: peak and tails, kurtosis above 1.5": shape_of(head[0].weight)[1] > 1.5,
    "activations: one-sided, skewness above 1": shape_of(hidden)[0] > 1,
    "the 20 most frequent tokens moved furthest": (moved[:20].mean() > 1.2 * moved[150:].mean()).item(),
    "control: the normal draws pass as normal": abs(control[0]) < 0.3 and abs(control[1]) < 0.6,
}
for fact, holds in facts.items():
    print(f"{fact}: {holds}")
    assert holds, fact

# %% [markdown]
# *Three tensors of one healthy network, and a normal sample as control. The penalty leaves a peak
# at zero, ReLU leaves nothing below zero, and frequent tokens moved further than rare ones. None of these is a fault.*
#
# ## 5.3 Three spikes at zero
#
# **Claim.** A histogram with all gradients at zero may mean an inactive branch, convergence, or a mask. The three
# histograms can be *identical*; another observable parts them.
#
# One network, one hinge loss, three states:
#
# - **inactive**: the hidden biases have fallen so far that no ReLU lets anything through;
# - **converged**: every example is right by more than the margin, so nothing is left to learn;
# - **masked**: every target of this batch is ignored.


# %%
def spike(cause: str, change: str = "nothing") -> dict[str, Any]:
    """Gradient of the first layer in one state, with the observables beside it.

    cause: "inactive", "converged" or "masked". change: one intervention, or "nothing".
    """
    torch.manual_seed(53)
    x = torch.randn(24, 8)
    y = (x[:, 0] > 0).long()
    x[:, 0] += 2 * y - 1
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    adam = torch.optim.Adam(net.parameters(), lr=0.05)
    keep = torch.ones(24)
    for _ in range(200 if cause == "converged" else 3):
        adam.zero_grad()
        masked_hinge(net(x), y, keep)[0].backward()
        adam.step()
    if cause == "inactive":
        net[0].bias.data -= 50
    if cause == "masked":
        keep.zero_()
    if change == "raise the biases":
        net[0].bias.data.clamp_(min=-2)
    elif change == "swap the labels":
        y = 1 - y
    elif change == "unmask":
        keep.fill_(1)
    adam.zero_grad()
    loss, count = masked_hinge(net(x), y, keep)
    loss.backward()
    active = (net[:2](x) > 0).double().mean().item()
    return {"gradient": net[0].weight.grad, "loss": loss.item(), "active": active, "targets": count}


def masked_hinge(scores: Tensor, y: Tensor, keep: Tensor) -> tuple[Tensor, int]:
    """Mean hinge loss over the kept targets (0 if none), and their number."""
    losses = F.multi_margin_loss(scores, y, reduction="none")
    return (losses * keep).sum() / keep.sum().clamp_min(1), int(keep.sum())


CAUSES = ("inactive", "converged", "masked")
CHANGES = ("raise the biases", "swap the labels", "unmask")

# %% tags=["claim-5.3"]
states = {cause: spike(cause) for cause in CAUSES}
print(f"{'cause':10} {'zero gradients':>14} {'loss':>8} {'active units':>13} {'targets':>8}")
for cause, state in states.items():
    share = (state["gradient"] == 0).double().mean().item()
    loss = "above 0" if state["loss"] > 0.01 else "0"
    print(
        f"{cause:10} {share:14.0%} {loss:>8} {'some' if state['active'] else 'none':>13} {state['targets']:8}"
    )

assert all(torch.equal(state["gradient"].abs(), torch.zeros(16, 8)) for state in states.values())
assert states["inactive"]["active"] == 0 and states["inactive"]["loss"] > 0.01
assert (
    states["converged"]["active"] > 0
    and states["converged"]["loss"] == 0
    and states["converged"]["targets"] == 24
)
assert states["masked"]["active"] > 0 and states["masked"]["targets"] == 0

# %% [markdown]
# The same histogram three times, and a different row of observables each time. Note that the loss alone is not
# enough either: converged and masked both show 0.
#
# The control changes one thing at a time. Each intervention should bring the gradient back for the cause that it
# speaks to, and for no other.

# %% tags=["claim-5.3"]
returns = {
    (cause, change): bool(spike(cause, change)["gradient"].any()) for cause in CAUSES for change in CHANGES
}
print(f"{'gradient back after':18}" + "".join(f"{change:>18}" for change in CHANGES))
for cause in CAUSES:
    print(f"{cause:18}" + "".join(f"{'yes' if returns[cause, change] else 'no':>18}" for change in CHANGES))
cures = {"inactive": "raise the biases", "converged": "swap the labels", "masked": "unmask"}
assert all(returns[cause, change] == (cures[cause] == change) for cause in CAUSES for change in CHANGES)


# %%
def show_spike(change: str = "nothing") -> None:
    """Gradient histograms of the three states, after one intervention."""
    figure, axes = plt.subplots(1, 3, figsize=(6.4, 2.4), sharey=True)
    for axis, cause, hatch in zip(axes, CAUSES, ("//", "..", "xx")):
        state = spike(cause, change)
        axis.hist(
            state["gradient"].flatten().numpy(),
            bins=31,
            range=(-0.5, 0.5),
            color="0.85",
            edgecolor="0.2",
            hatch=hatch,
        )
        axis.set_title(
            f"{cause}\nloss {state['loss']:.2f}, active {state['active']:.0%}, targets {state['targets']}",
            fontsize=7,
        )
        axis.set_xlabel("gradient", fontsize=8)
        axis.tick_params(labelsize=7)
    axes[0].set_ylabel("entries of 128", fontsize=8)
    figure.suptitle(f"intervention: {change}", fontsize=9)
    figure.tight_layout()
    plt.show()


show_spike()

# %% [markdown]
# *Three spikes of 128 entries each, alike to the last entry. The line above each panel holds what parts them: loss,
# share of active units, supervised targets.*

# %% tags=["widget", "nbval-skip"]
explore(show_spike, {"change": "intervention"}, change=["nothing", *CHANGES])

# %% [markdown]
# ## 5.4 Compare a layer with its own past
#
# **Claim.** Layers differ from each other for good reasons, so one rule for all of them cries wolf. A layer that
# departs from *its own earlier distribution* is worth a look.
#
# Two runs with the same seed. In the second, from step 80 on, the middle layer's learning rate is 20 times too
# large: a slip in one parameter group. Each layer's quantiles are compared with those of the same layer 20 steps
# earlier, in units of its own standard deviation then.


# %%
def recorded_run(slip: bool, steps: int = 160) -> tuple[list[dict], float]:
    """Train three layers. Returns (weight, gradient) of each at every step, after backward, and the last loss."""
    torch.manual_seed(54)
    x = torch.randn(256, 8)
    y = (x[:, :2].prod(1) > 0).long() + 2 * (x[:, 2] > 0).long()
    net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4))
    groups = [{"params": net[k].parameters(), "lr": 0.1} for k in (0, 2, 4)]
    sgd = torch.optim.SGD(groups, momentum=0.9)
    history = []
    for step in range(steps):
        if slip and step == 80:
            sgd.param_groups[1]["lr"] *= 20
        batch = torch.randint(0, 256, (64,))
        sgd.zero_grad()
        loss = F.cross_entropy(net(x[batch]), y[batch])
        loss.backward()
        weights = {k: net[k].weight for k in (0, 2, 4)}
        history.append(
            {k: (w.detach().clone().flatten(), w.grad.clone().flatten()) for k, w in weights.items()}
        )
        sgd.step()
    return history, loss.item()


def drift(now: Tensor, then: Tensor) -> float:
    """Mean distance between the quantiles of two states of a layer, in standard deviations of the earlier one."""
    q = torch.linspace(0.05, 0.95, 19)
    return ((now.quantile(q) - then.quantile(q)).abs().mean() / then.std()).item()


LAG, LIMIT = 20, 0.35
runs = {"calm": recorded_run(False), "slip": recorded_run(True)}
drifts = {
    (run, layer): [drift(history[t][layer][0], history[t - LAG][layer][0]) for t in range(60, 160)]
    for run, (history, _) in runs.items()
    for layer in (0, 2, 4)
}

# %% tags=["claim-5.4"]
flagged = {key: [60 + i for i, d in enumerate(values) if d > LIMIT] for key, values in drifts.items()}
for (run, layer), steps in flagged.items():
    print(f"{run} run, layer {layer}: {'flagged within 12 steps of the slip' if steps else 'not flagged'}")
assert [key for key, steps in flagged.items() if steps] == [("slip", 2)]
assert 80 < flagged["slip", 2][0] <= 92, "found soon after, and not before"

# control: one rule for all layers, "standard deviations agree within a factor 1.5", fails on the calm run already
spreads = {layer: runs["calm"][0][79][layer][0].std().item() for layer in (0, 2, 4)}
print("one rule for all layers flags the calm run:", max(spreads.values()) > 1.5 * min(spreads.values()))
print("both runs end with a loss below 0.5:", all(loss < 0.5 for _, loss in runs.values()))
assert max(spreads.values()) > 1.5 * min(spreads.values())
assert all(loss < 0.5 for _, loss in runs.values())

figure, axis = plt.subplots()
for (run, layer), style in zip(drifts, ("-", "--", ":") * 2):
    marker = "o" if run == "slip" else None
    axis.plot(range(60, 160), drifts[run, layer], style, marker=marker, markevery=10, markersize=4, color="0.2",
              label=f"{run}, layer {layer}")  # fmt: skip
axis.axhline(LIMIT, color="0.6", linewidth=1)
axis.annotate("limit", (152, LIMIT + 0.02), fontsize=8)
axis.axvline(80, color="0.6", linewidth=1, linestyle="-.")
axis.set(xlabel="step", ylabel=f"drift over {LAG} steps [std]")
axis.legend(fontsize=7, ncols=2)
plt.show()

# %% [markdown]
# *Drift of each layer against its own state 20 steps earlier. Only the middle layer of the second run (dashed, with
# dots) leaves its past, right after the slip (vertical line). The final losses would not have told.*
#
# The same as histograms over the steps: weights left, gradients right.


# %%
def ridges(run: str = "slip", layer: int = 2, until: int = 159) -> list[float]:
    """Weight and gradient histograms of one layer every 20 steps up to a step. Returns the weights' spreads."""
    history = runs[run][0]
    steps = list(range(0, until + 1, 20))
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharey=True)
    for axis, part, name in zip(axes, (0, 1), ("weights", "gradients")):
        reach = max(history[t][layer][part].abs().quantile(0.995).item() for t in steps)
        for t in steps:
            counts, edges = torch.histogram(history[t][layer][part], bins=40, range=(-reach, reach))
            base = t + 17 * counts / counts.max()
            axis.fill_between(
                edges[:-1].numpy(),
                t,
                base.numpy(),
                step="post",
                facecolor="0.85",
                edgecolor="0.2",
                linewidth=0.8,
            )
        axis.set_xlabel(f"{name} of layer {layer}", fontsize=8)
        axis.tick_params(labelsize=7)
    axes[0].set_ylabel("step", fontsize=8)
    figure.suptitle(f"{run} run", fontsize=9)
    figure.tight_layout()
    plt.show()
    return [history[t][layer][0].std().item() for t in steps]


slip_spread, calm_spread = ridges("slip"), ridges("calm")
assert slip_spread[5] > 2 * slip_spread[4] and calm_spread[5] < 1.3 * calm_spread[4]
assert runs["slip"][0][100][2][1].std() < runs["slip"][0][80][2][1].std()  # the gradients became narrower

# %% [markdown]
# *One histogram every 20 steps, time upward, each scaled to its own peak (mind the different weight axes). Above, the
# weights spread between steps 80 and 100; below, the calm run at the same steps. The gradients of the slip run become
# narrower meanwhile: alone, they would look like convergence.*

# %% tags=["widget", "nbval-skip"]
explore(ridges, {"until": "until step"}, run=["slip", "calm"], layer=[0, 2, 4], until=(39, 159, 20))

# %% [markdown]
# **The limit of every histogram.** It forgets which entry is which. Reorder the entries of a trained weight, and its
# histogram stays the same to the last bin, while the network is ruined.

# %% tags=["claim-5.4"]
order = torch.randperm(head[0].weight.numel(), generator=torch.Generator().manual_seed(540))
trained = head[0].weight.detach().clone()
mixed = trained.flatten()[order].view_as(trained)
with torch.no_grad():
    ruined = (
        (head[2](F.relu(F.linear(embedding.weight, mixed, head[0].bias))).argmax(1) == token_labels)
        .double()
        .mean()
    )
print("same sorted entries:", torch.equal(trained.flatten().sort().values, mixed.flatten().sort().values))
print("drift between the two:", round(drift(mixed.flatten(), trained.flatten()), 6))
print("accuracy still above 0.95:", ruined.item() > 0.95)
assert drift(mixed.flatten(), trained.flatten()) == 0 and ruined < 0.7

# %% [markdown]
# ## 5.5 TensorBoard writes down one batch
#
# **Claim.** `add_histogram` of detached weights and gradients, called after `backward()` and before the next
# zeroing, describes **that batch**: not an epoch, not an average.
#
# The cell writes real event files to a temporary folder and reads them back. It was written with TensorBoard 2.21.

# %% tags=["claim-5.5"]
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter


def read_histograms(folder: str) -> dict[str, list]:
    """Every histogram of a folder's event files: tag to its events (.step, .histogram_value)."""
    events = EventAccumulator(folder, size_guidance={"histograms": 0})
    events.Reload()
    return {tag: events.Histograms(tag) for tag in events.Tags()["histograms"]}


torch.manual_seed(55)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
batches = [torch.randn(16, 4), 3 * torch.randn(16, 4)]
kept = []
with tempfile.TemporaryDirectory() as folder:
    writer = SummaryWriter(folder)
    for step, x in enumerate(batches):
        net.zero_grad()
        net(x).square().mean().backward()
        for name, p in net.named_parameters():
            writer.add_histogram(f"weights/{name}", p.detach(), step)
            writer.add_histogram(f"gradients/{name}", p.grad.detach(), step)
        kept.append(torch.autograd.grad(net(x).square().mean(), net[0].weight)[0])  # of this batch, measured apart
    net(batches[0]).square().mean().backward()  # control: the second batch's gradient was not zeroed
    writer.add_histogram("gradients/0.weight", net[0].weight.grad.detach(), 2)
    writer.close()
    stored = read_histograms(folder)

written = [event.histogram_value for event in stored["gradients/0.weight"]]
print("tags:", len(stored), "  steps:", [event.step for event in stored["gradients/0.weight"]])
for name, value, truth in zip(
    ("batch 0", "batch 1", "not zeroed"), written, (kept[0], kept[1], kept[0] + kept[1])
):
    agrees = math.isclose(value.sum, truth.double().sum().item(), abs_tol=1e-5) and math.isclose(
        value.max, truth.max().item(), abs_tol=1e-5
    )
    print(
        f"{name:10} {int(value.num)} entries, as the gradient of {'both batches' if name == 'not zeroed' else 'that batch'}: {agrees}"
    )
    assert agrees and value.num == 32
assert not math.isclose(written[0].max, written[1].max, rel_tol=0.05), (
    "same weights, other batch, other histogram"
)
assert stored["weights/0.weight"][0].histogram_value.sum == stored["weights/0.weight"][1].histogram_value.sum

# %% [markdown]
# The weights never moved in this cell, and their two histograms agree. The gradients belong to the batch: another
# batch, another histogram; and without zeroing, the histogram of the sum of both.
#
# **What it does with NaN.** With default bins, one NaN among many entries is left out of the bars without a word;
# only the stored minimum, maximum and sum turn NaN, and bars do not show those. A tensor that is NaN throughout
# raises, so the *logging line* crashes, and it is only the messenger.

# %% tags=["claim-5.5"]
with tempfile.TemporaryDirectory() as folder:
    writer = SummaryWriter(folder)
    values = torch.linspace(-1, 1, 10)
    writer.add_histogram("whole", values, 0)
    values[3] = math.nan
    writer.add_histogram("one NaN", values, 0)
    try:
        writer.add_histogram("all NaN", torch.full((10,), math.nan), 0)
        message = "nothing raised"
    except ValueError as error:
        message = str(error)
    writer.close()
    stored = {tag: events[0].histogram_value for tag, events in read_histograms(folder).items()}
bars = {tag: int(sum(value.bucket)) for tag, value in stored.items()}
print("entries in the bars:", bars)
print("stored minimum:", {tag: value.min for tag, value in stored.items()})
print("all NaN:", message.split(",")[0])
assert bars == {"whole": 10, "one NaN": 9} and "empty" in message
assert math.isnan(stored["one NaN"].min) and stored["whole"].min == -1

# %% [markdown]
# So log the finite fraction beside every histogram. That is one line with your `tensor_stats`.
#
# **To open it in Lab**, write to a folder that stays (`SummaryWriter("runs/first")`), then run in a cell
#
# ```
# %load_ext tensorboard
# %tensorboard --logdir runs
# ```
#
# or, in a terminal, `tensorboard --logdir runs` and follow the address that it prints. The *Histograms* tab shows
# the ridges over the steps, the *Distributions* tab the quantiles. Behind JupyterHub or Binder, the terminal way
# needs a proxy for the port; the cell way is the simpler one on your own machine.
#
# ## 5.6 A monitor that cleans up
#
# **Claim.** Forward hooks see inside a model without touching its code, but they cost time at every call, and they
# stay until somebody removes them. An exception between registering and removing leaves them behind.

# %% tags=["claim-5.6"]
deep = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(16, 16), nn.Tanh())])
x = torch.randn(8, 16)
calls = []


def note(module: nn.Module, args: tuple, output: Tensor) -> None:
    """A typical hook: one number from each output."""
    calls.append(output.detach().abs().max().item())


def careless(model: nn.Module, x: Tensor) -> None:
    """Registers, runs, removes: in that order, and so not at all when the middle one raises."""
    handles = [m.register_forward_hook(note) for m in model]
    model(x)
    for handle in handles:
        handle.remove()


def count_hooks(model: nn.Module) -> int:
    """Forward hooks on a model and its modules."""
    return sum(len(m._forward_hooks) for m in model.modules())


trace = [count_hooks(deep)]
careless(deep, x)
trace.append(count_hooks(deep))  # control: a good run cleans up
for _ in range(3):
    try:
        careless(deep, torch.randn(8, 15))  # a batch of the wrong width
    except RuntimeError:
        trace.append(count_hooks(deep))
calls.clear()
deep(x)
print("hooks: at first, after a good run, after each of three failures:", trace)
print("hook calls in one plain forward afterwards:", len(calls))
assert trace == [0, 0, 12, 24, 36] and len(calls) == 36


# %% [markdown]
# Every failed attempt left 12 hooks, so the forward of an innocent run now makes 36 calls. In a notebook this is how
# training "gets slower each time I run the cell".
#
# What that costs in seconds has no fixed price: it depends on the modules, the hook, the machine, and on a GPU
# `.item()` makes the host wait for the device as well. What can be counted is the calls: the cell below counts those
# of the hooks left behind, those of none, and what sampling saves.


# %% tags=["claim-5.6"]
def calls_of(model: nn.Module, forwards: int = 50) -> int:
    """Hook calls in a number of forwards."""
    calls.clear()
    for _ in range(forwards):
        model(x)
    return len(calls)


with torch.no_grad():
    hooked = calls_of(deep)
    for m in deep.modules():
        m._forward_hooks.clear()  # these are all ours; in a model that others hook too, remove handles instead
    bare = calls_of(deep)  # control: without them nothing is called
    print("hook calls in 50 forwards, with those left behind and without:", hooked, bare)
    assert hooked == 36 * 50 and bare == 0

    counts = {}
    for every in (1, 10, 50):
        calls.clear()
        for step in range(100):
            handles = [m.register_forward_hook(note) for m in deep] if step % every == 0 else []
            try:
                deep(x)
            finally:
                for handle in handles:
                    handle.remove()
        counts[every] = len(calls)
print("hook calls in 100 steps, sampled every n steps:", counts)
assert counts == {1: 1200, 10: 120, 50: 24} and count_hooks(deep) == 0

# %% [markdown]
# {{exercise 5.6}}
#
# Write the monitor: hooks on sampled steps alone, no hook left however the run ends, and the identifier of the step
# that failed. A step can fail through any exception, and through the stop button (`KeyboardInterrupt`) too.


# %% nbgrader={"grade_id": "watch", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def watch(model: nn.Module, batches: Iterable[tuple[str, Tensor]], every: int, log: dict[str, Any]) -> None:
    """Call model(x) once for each batch, in order, and record every `every`-th step through forward hooks.

    model: leave its mode, and hooks that others registered, as they are.
    batches: pairs (step_id, x). The steps at positions 0, every, 2 * every, ... are sampled; during the others
        the model carries no hook of yours.
    log: an empty dict that you fill; it outlives an exception.
        log["records"]: list of tuples (step_id, module_name, largest), one for each call of a module without
            children during a sampled step, in the order of the calls. module_name as in model.named_modules();
            largest: the largest magnitude in the module's output (its output is a tensor), a float; nan if it
            contains nan. Records made before a failure stay.
        log["failed"]: id of the step whose forward did not return, whatever stopped it; None if all returned.
    Raises: whatever the forward raises, unchanged, with every hook of yours removed.

    Example: after watch(nn.Sequential(nn.ReLU()), [("a", torch.tensor([-1.0, 2.0]))], 1, log),
    log == {"records": [("a", "0", 2.0)], "failed": None}.
    """
    ### BEGIN SOLUTION
    log["records"], log["failed"] = [], None
    names = {module: name for name, module in model.named_modules() if not list(module.children())}

    def keep(module: nn.Module, args: tuple, output: Tensor) -> None:
        log["records"].append((step_id, names[module], output.detach().abs().max().item()))

    for position, (step_id, x) in enumerate(batches):
        handles = []
        try:
            if position % every == 0:
                for module in names:
                    handles.append(module.register_forward_hook(keep))
            model(x)
        except BaseException:  # the stop button is no Exception
            log["failed"] = step_id
            raise
        finally:
            for handle in handles:
                handle.remove()
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-5-6", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("5.6", watch)
### BEGIN HIDDEN TESTS
check("5.6", watch, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Your monitor on a run that blows up between two layers. The last records show how far the forward came.

# %% tags=["uses-answer"]
torch.manual_seed(560)
fragile = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(5, 2))  # widths do not fit
log: dict[str, Any] = {}
try:
    watch(fragile, [("epoch 3, batch 17", torch.randn(2, 4))], 1, log)
except NotImplementedError:
    print("watch is still to be written: exercise 5.6")
except RuntimeError:
    print("failed:", log["failed"])
    print("last module that returned:", log["records"][-1][1], "  hooks left:", count_hooks(fragile))

# %% [markdown]
# ## What to take along
#
# | You see | Do not conclude | Look at |
# |---|---|---|
# | a histogram that is no bell | something is broken | the layer's own earlier histogram |
# | a spike of zero gradients | dead units | loss, active share, supervised targets |
# | a clean histogram in TensorBoard | no NaN | the finite fraction |
# | training that slows with each rerun | the machine | the number of hooks before and after |
