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
# # 07 · Failure scenarios
#
# Three failures that look like something else, each with the repair that treats the symptom, and the one that
# removes the cause.
#
# By the end you can
#
# - shuffle a data set without tearing its pairs apart, and find torn pairs that the one-batch test does not find;
# - replace an unstable log-probability by one that is right in value and gradient;
# - make a module's randomness obey `eval()`, and evaluate without leaving a trace.

# %% tags=["setup"] nbgrader={"grade_id": "setup-07", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, explore, hint, solution

# %matplotlib inline
torch.set_num_threads(1)
torch.manual_seed(7)
plt.rcParams.update(
    {"figure.figsize": (6.4, 3.2), "figure.dpi": 90, "axes.spines.top": False, "axes.spines.right": False}
)

# %% [markdown]
# ## 7.1 Shuffled apart
#
# **Claim.** Shuffling inputs and labels separately tears pairs apart, and the one-batch test does not notice: a
# fixed batch of torn pairs is memorized as well as a fixed batch of true ones. What notices is an audit of ids.
#
# A data set of three well separated classes, each example with a stable id, is prepared in three ways: as stored,
# with one shuffle for inputs and labels, and with a shuffle for each.


# %%
def stored_data(n: int = 120) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs (n, 8) around three centers, labels (n,), ids (n,)."""
    g = torch.Generator().manual_seed(71)
    labels = torch.arange(n) % 3
    centers = 3 * torch.randn(3, 8, generator=g)
    return centers[labels] + torch.randn(n, 8, generator=g), labels, 1000 + 7 * torch.arange(n)


def prepared(how: str, seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Inputs, labels, and the ids that each of the two really belongs to."""
    inputs, labels, ids = stored_data()
    g = torch.Generator().manual_seed(seed)
    first = torch.arange(len(ids)) if how == "as stored" else torch.randperm(len(ids), generator=g)
    second = torch.randperm(len(ids), generator=g) if how == "two shuffles" else first
    return inputs[first], labels[second], ids[first], ids[second]


def fit(inputs: Tensor, labels: Tensor, steps: int = 300) -> tuple[nn.Module, float]:
    """Train a small network on one fixed batch. Returns it and its last loss."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 3))
    adam = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(steps):
        loss = F.cross_entropy(net(inputs), labels)
        adam.zero_grad()
        loss.backward()
        adam.step()
    return net, loss.item()


WAYS = ("as stored", "one shuffle", "two shuffles")

# %% tags=["claim-7.1"]
results = {}
print(f"{'prepared':13} {'one-batch test':>15} {'ids audited':>12} {'accuracy on true pairs':>23}")
for how in WAYS:
    inputs, labels, input_ids, label_ids = prepared(how)
    _, memorized = fit(inputs[:12], labels[:12])
    torn = int((input_ids != label_ids).sum())
    net, _ = fit(inputs[:90], labels[:90])
    true_inputs, true_labels, _ = stored_data()
    accuracy = (net(true_inputs).argmax(1) == true_labels).double().mean().item()
    results[how] = (memorized, torn, accuracy)
    verdict = "passes" if memorized < 0.04 else "fails"
    print(
        f"{how:13} {verdict:>15} {'clean' if torn == 0 else 'torn':>12} {'above 0.95' if accuracy > 0.95 else 'below 0.60':>23}"
    )

assert all(memorized < 0.04 for memorized, _, _ in results.values()), (
    "the one-batch test passes in every world"
)
assert results["as stored"][1] == results["one shuffle"][1] == 0 and results["two shuffles"][1] > 100
assert (
    results["as stored"][2] > 0.95 and results["one shuffle"][2] > 0.95 and results["two shuffles"][2] < 0.60
)

# %% [markdown]
# The control is the middle row: shuffling as such does no harm. Only the second, independent order does.
#
# Counting labels does not help either: the label histogram is exactly the old one. And with three equally frequent
# classes, about a third of the examples carry the right label by luck.

# %% tags=["claim-7.1"]
_, stored_labels, ids = stored_data()
_, torn_labels, input_ids, _ = prepared("two shuffles")
table = dict(zip(ids.tolist(), stored_labels.tolist()))
lucky = sum(table[i] == y for i, y in zip(input_ids.tolist(), torn_labels.tolist())) / len(ids)
print("labels of each class:", stored_labels.bincount().tolist(), "then", torn_labels.bincount().tolist())
print("share with the right label after two shuffles:", round(lucky, 2))
assert torch.equal(stored_labels.bincount(), torn_labels.bincount()) and 0.2 < lucky < 0.47


# %%
def show_pairing(how: str = "two shuffles", seed: int = 0) -> tuple[int, int]:
    """Draw twelve examples, a line from each input to the label of its own id. Returns (torn, wrong by label)."""
    inputs, labels, ids = (t[:12] for t in stored_data())
    g = torch.Generator().manual_seed(seed)
    first = torch.arange(12) if how == "as stored" else torch.randperm(12, generator=g)
    second = torch.randperm(12, generator=g) if how == "two shuffles" else first
    where = {int(i): position for position, i in enumerate(ids[second])}
    figure, axis = plt.subplots(figsize=(5.2, 3.2))
    for position, i in enumerate(ids[first].tolist()):
        whole = where[i] == position
        axis.plot(
            [0, 1],
            [position, where[i]],
            "-" if whole else "--",
            marker="o" if whole else "x",
            color="0.2",
            linewidth=1,
        )
        axis.text(-0.04, position, f"id {i}", ha="right", va="center", fontsize=7)
    for position, label in enumerate(labels[second].tolist()):
        axis.text(1.04, position, f"label {label}", ha="left", va="center", fontsize=7)
    axis.set(
        xlim=(-0.35, 1.35),
        xticks=[0, 1],
        xticklabels=["input stands here", "its label stands here"],
        yticks=[],
    )
    axis.invert_yaxis()
    axis.spines["left"].set_visible(False)
    torn, wrong = int((first != second).sum()), int((labels[first] != labels[second]).sum())
    axis.set_title(f"{how}: {torn} pairs torn, {wrong} of them with another label", fontsize=9)
    plt.show()
    return torn, wrong


for how in WAYS:
    torn, wrong = show_pairing(how)
    assert (torn > 0) == (how == "two shuffles") and wrong <= torn

# %% [markdown]
# *Level solid lines with dots: an input and its label stand in the same row. Slanted dashed lines with crosses: torn
# pairs. After one shuffle the ids are in another order, and every line is level still.*

# %% tags=["widget", "nbval-skip"]
explore(show_pairing, how=list(WAYS), seed=(0, 20, 1))

# %% [markdown]
# {{exercise 7.1a}}
#
# Shuffle inputs, labels and ids so that every id keeps its input and its label.


# %% nbgrader={"grade_id": "joint-shuffle", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def joint_shuffle(inputs: Tensor, labels: Tensor, ids: Tensor, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Put the examples into a random order that `seed` decides.

    inputs: (n, ...). labels: (n,) integers. ids: (n,) integers, all different.
    seed: the same seed gives the same order, another seed another order, whatever was drawn before.
    Returns: (inputs, labels, ids), new tensors of the same shapes and dtypes; the arguments stay as they were.

    Example: with ids [5, 8] and labels [0, 1] the result has ids [5, 8] and labels [0, 1], or ids [8, 5] and
    labels [1, 0].
    """
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(ids), generator=generator)
    return inputs[order], labels[order], ids[order]
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-7-1a", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("7.1a", joint_shuffle)
### BEGIN HIDDEN TESTS
check("7.1a", joint_shuffle, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# {{exercise 7.1b}}
#
# The table says which label belongs to which id. Compare it with what a loader delivers, and name every pair that
# does not agree. An order other than the table's is no fault; a label that differs is.


# %% nbgrader={"grade_id": "audit-pairs", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def audit_pairs(batches: list[tuple[Tensor, Tensor]], table: dict[int, int]) -> list[tuple[int, int]]:
    """Find the examples whose label is not the one that the table has for their id.

    batches: (ids, labels) of each batch, integer tensors of shape (b,); b may differ, and may be 0.
    table: label of each id. It may know more ids than are delivered; an id that it does not know cannot be
        vouched for, and counts as a mismatch.
    Returns: (batch index, id) of each mismatch as Python ints, in the order in which they are met.

    Example: audit_pairs([(torch.tensor([5, 8]), torch.tensor([0, 0]))], {8: 1, 5: 0}) == [(0, 8)]
    """
    ### BEGIN SOLUTION
    found = []
    for index, (ids, labels) in enumerate(batches):
        for i, label in zip(ids.tolist(), labels.tolist()):
            if table.get(i) != label:
                found.append((index, i))
    return found
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-7-1b", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("7.1b", audit_pairs)
### BEGIN HIDDEN TESTS
check("7.1b", audit_pairs, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Your two functions on the data set from above: the audit is silent on your shuffle, and loud on the torn one.

# %% tags=["uses-answer"]
try:
    inputs, labels, ids = stored_data()
    known = dict(zip(ids.tolist(), labels.tolist()))
    _, my_labels, my_ids = joint_shuffle(inputs, labels, ids, seed=3)
    print("named in your shuffle:", len(audit_pairs([(my_ids, my_labels)], known)))
    _, torn_labels, torn_ids, _ = prepared("two shuffles")
    print("named in two shuffles:", len(audit_pairs([(torn_ids, torn_labels)], known)), "of", len(ids))
except NotImplementedError:
    print("joint_shuffle or audit_pairs is still to be written: exercises 7.1a and 7.1b")

# %% [markdown]
# ## 7.2 A logarithm of a rounded zero
#
# **Claim.** When `log(softmax(logits))` is infinite, the implementation is to be replaced. Changing the label, or
# adding an epsilon, makes the loss finite and leaves the run broken.

# %% tags=["claim-7.2"]
logits = torch.tensor([[1000.0, -1000.0]], requires_grad=True)
target = torch.tensor([1])


def outcome(loss: Tensor) -> tuple[float, list[float]]:
    """A loss and its gradient with respect to the logits; + 0.0 turns -0.0 into 0.0."""
    (gradient,) = torch.autograd.grad(loss, logits)
    return loss.item() + 0.0, (gradient.flatten() + 0.0).tolist()


attempts = {
    "log of softmax": outcome(-torch.log(logits.softmax(1)[0, 1])),
    "another label": outcome(-torch.log(logits.softmax(1)[0, 0])),
    "epsilon 1e-9": outcome(-torch.log(logits.softmax(1)[0, 1] + 1e-9)),
    "cross entropy": outcome(F.cross_entropy(logits, target)),
}
for name, (loss, gradient) in attempts.items():
    print(f"{name:15} loss {loss:8.2f}   gradient {gradient}")

assert math.isinf(attempts["log of softmax"][0])
assert attempts["another label"] == (0.0, [0.0, 0.0]), "finite, because it answers another question"
assert attempts["epsilon 1e-9"][0] < 21 and attempts["epsilon 1e-9"][1] == [0.0, 0.0], (
    "finite, and nothing is learned"
)
assert attempts["cross entropy"] == (2000.0, [1.0, -1.0])

# control: on moderate logits the stable and the unstable form agree, so the formula was right and the rounding was not
moderate = torch.randn(5, 3, generator=torch.Generator().manual_seed(72))
gap = (torch.log(moderate.softmax(1)) - moderate.log_softmax(1)).abs().max().item()
print("largest difference on moderate logits below 1e-6:", gap < 1e-6)
assert gap < 1e-6


# %%
def show_losses(exponent: int = 9) -> dict[str, list[float]]:
    """Loss and gradient against the gap between two logits, for three implementations."""
    gaps = torch.linspace(0, 200, 81)
    forms = {
        "log of softmax": lambda z: -torch.log(z.softmax(0))[1],
        f"with epsilon 1e-{exponent}": lambda z: -torch.log(z.softmax(0) + 10.0**-exponent)[1],
        "log_softmax": lambda z: -z.log_softmax(0)[1],
    }
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.0))
    slopes = {}
    for (name, form), style in zip(forms.items(), ("-s", "--^", ":o")):
        values, slope = [], []
        for gap in gaps.tolist():
            z = torch.tensor([gap, 0.0], requires_grad=True)
            loss = form(z)
            loss.backward()
            values.append(loss.item())
            slope.append(z.grad[1].item())
        slopes[name] = slope
        axes[0].plot(
            gaps, values, style, markevery=12, markersize=5, color="0.2", fillstyle="none", label=name
        )
        axes[1].plot(
            gaps, slope, style, markevery=12, markersize=5, color="0.2", fillstyle="none", label=name
        )
    axes[0].set(xlabel="logit gap", ylabel="loss")
    axes[1].set(xlabel="logit gap", ylabel="gradient of the label's logit", ylim=(-1.1, 0.1))
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    plt.show()
    return slopes


slopes = show_losses()
assert abs(slopes["log_softmax"][-1] + 1) < 1e-6 and slopes["with epsilon 1e-9"][-1] == 0
assert not math.isfinite(slopes["log of softmax"][-1])

# %% [markdown]
# *The label's logit falls behind by the gap. Left, the loss: the plain form (squares) ends where the probability
# rounds to zero, the one with epsilon (triangles) goes flat, the stable one (circles) keeps growing. Right, the
# gradient that should pull the label up: with epsilon it fades to 0 just where the error is largest.*

# %% tags=["widget", "nbval-skip"]
explore(show_losses, {"exponent": "epsilon 1e-"}, exponent=(3, 30, 3))

# %% [markdown]
# {{exercise 7.2}}
#
# Replace the implementation: the log-probability of each label, right in value and gradient for any logits.


# %% nbgrader={"grade_id": "label-log-prob", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def label_log_prob(logits: Tensor, labels: Tensor) -> Tensor:
    """Log of the softmax probability of each example's label; differentiable.

    logits: (n, c), float32 or float64, of any size. A class that is ruled out has the logit -inf; it is never
        the label.
    labels: (n,) int64, from 0 to c - 1.
    Returns: (n,) in the logits' dtype.

    Example: label_log_prob(torch.tensor([[1000.0, -1000.0]]), torch.tensor([1])) is tensor([-2000.]).
    """
    ### BEGIN SOLUTION
    return F.log_softmax(logits, 1).gather(1, labels[:, None]).squeeze(1)
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-7-2", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("7.2", label_log_prob)
### BEGIN HIDDEN TESTS
check("7.2", label_log_prob, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 7.3 Two switches, often taken for one
#
# **Claim.** `eval()` sets the mode of modules; `no_grad()` and `inference_mode()` stop the recording of gradients.
# Neither does the other's work. And a functional dropout obeys neither, unless it is told: its default is
# `training=True`.
#
# > **Misconception.** "`eval()` turns gradients off." It does not: the output still carries a graph.
# >
# > **Misconception.** "`no_grad()` turns dropout off." It does not: two calls still differ.
#
# Two networks with the same weights. In one, dropout is a module; in the other, a bare functional call.


# %%
class WithModule(nn.Module):
    """Dropout as a submodule: eval() reaches it."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.first, self.drop, self.last = nn.Linear(6, 32), nn.Dropout(p), nn.Linear(32, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.drop(torch.tanh(self.first(x))))


class WithBareCall(WithModule):
    """The same with a functional call that nobody tells about the mode."""

    def forward(self, x: Tensor) -> Tensor:
        return self.last(F.dropout(torch.tanh(self.first(x)), self.drop.p))


def outputs(
    kind: type, training: bool, record: bool, p: float = 0.5, calls: int = 30
) -> tuple[list[float], bool]:
    """Outputs of repeated calls on one input under one combination of the switches, and whether they carry a graph."""
    torch.manual_seed(73)
    net = kind(p).train(training)
    x = torch.randn(1, 6)
    with torch.set_grad_enabled(record):
        results = [net(x) for _ in range(calls)]
    return [r.item() for r in results], results[0].requires_grad


COMBINATIONS = [(training, record) for training in (True, False) for record in (True, False)]

# %% tags=["claim-7.3"]
print(f"{'dropout as':16} {'mode':7} {'recording':10} {'two calls':10} {'graph':5}")
for kind, name in ((WithModule, "module"), (WithBareCall, "bare call")):
    for training, record in COMBINATIONS:
        values, graph = outputs(kind, training, record)
        same = len(set(values)) == 1
        print(
            f"{name:16} {'train' if training else 'eval':7} {'on' if record else 'no_grad':10} {'agree' if same else 'differ':10} {graph}"
        )
        assert graph == record, "the graph follows the recording switch alone"
        assert same == (kind is WithModule and not training), (
            "repeatability follows the mode, where the mode is obeyed"
        )

# control: with p = 0 nothing is drawn, and all calls agree, so dropout is the only source of the differences
assert all(len(set(outputs(kind, True, True, p=0.0)[0])) == 1 for kind in (WithModule, WithBareCall))
print("control, p = 0: all calls agree")

# inference_mode is the stricter sibling of no_grad, and does not touch dropout either
net, x = WithModule().train(), torch.randn(1, 6)
with torch.inference_mode():
    print("inference_mode in train mode, two calls agree:", torch.equal(net(x), net(x)))
    assert not torch.equal(net(x), net(x))


# %%
def show_modes(p: float = 0.5) -> dict[tuple, float]:
    """Thirty outputs under each combination of mode and recording, for both networks. Returns their spreads."""
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.0), sharey=True)
    spreads = {}
    for axis, kind, name in zip(
        axes, (WithModule, WithBareCall), ("dropout as a module", "bare functional call")
    ):
        for column, (training, record) in enumerate(COMBINATIONS):
            values, _ = outputs(kind, training, record, p)
            jitter = torch.linspace(-0.25, 0.25, len(values))
            axis.plot(
                column + jitter, values, "o" if record else "x", color="0.2", markersize=4, fillstyle="none"
            )
            spreads[kind, training, record] = max(values) - min(values)
        labels = [f"{'train' if t else 'eval'}\n{'grad' if r else 'no_grad'}" for t, r in COMBINATIONS]
        axis.set_xticks(range(4), labels, fontsize=8)
        axis.set_title(name, fontsize=9)
    axes[0].set_ylabel("output for one input")
    figure.tight_layout()
    plt.show()
    return spreads


spreads = show_modes()
assert all(
    (spread == 0) == (kind is WithModule and not training) for (kind, training, _), spread in spreads.items()
)

# %% [markdown]
# *Thirty calls on one input in each column: circles with recording, crosses without. Left, evaluation mode makes a
# flat row of the cloud, and recording changes nothing. Right, no switch helps.*

# %% tags=["widget", "nbval-skip"]
explore(show_modes, {"p": "dropout p"}, p=(0, 0.9, 0.1))

# %% [markdown]
# A seed before each validation makes the calls agree as well. It repairs nothing: it always draws the same mask, and
# the output is still that of a thinned network.

# %% tags=["claim-7.3"]
bare, module = WithBareCall().eval(), WithModule().eval()
module.load_state_dict(bare.state_dict())
x = torch.randn(200, 6)
with torch.no_grad():
    seeded = []
    for _ in range(2):
        torch.manual_seed(0)
        seeded.append(bare(x))
    truth = module(x)
print(
    "seeded calls agree:",
    torch.equal(*seeded),
    "  equal to evaluation mode:",
    torch.allclose(seeded[0], truth, atol=1e-3),
)
assert torch.equal(*seeded) and not torch.allclose(seeded[0], truth, atol=1e-3)

# %% [markdown]
# Attention has such a call too: `F.scaled_dot_product_attention(..., dropout_p=p)` has no `training` argument at all.
# Here is a module with two leaks.


# %%
class LeakyReader(nn.Module):
    """Self-attention over (batch, positions, width) with two dropouts that ignore eval()."""

    def __init__(self, width: int, p: float) -> None:
        super().__init__()
        self.p = p
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p)
        return F.dropout(self.out(mixed), self.p)


# %% tags=["claim-7.3"]
torch.manual_seed(730)
leaky = LeakyReader(8, 0.5).eval()
x = torch.randn(2, 5, 8)
print("evaluation mode, two calls agree:", torch.equal(leaky(x), leaky(x)))
leaky.p = 0.0
print("control, p = 0, two calls agree:", torch.equal(leaky(x), leaky(x)))
assert torch.equal(leaky(x), leaky(x))
leaky.p = 0.5
assert not torch.equal(leaky(x), leaky(x))
try:
    F.scaled_dot_product_attention(x, x, x, dropout_p=0.5, training=False)
except TypeError:
    print("the attention call takes no training argument")
else:
    raise AssertionError("it does take one")

# %% [markdown]
# {{exercise 7.3a}}
#
# Write `forward` so that it does in training mode what `LeakyReader` does, and in evaluation mode the same without
# randomness. Start from the body above.


# %% nbgrader={"grade_id": "reader", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
class Reader(nn.Module):
    """Self-attention whose two dropouts obey the module's mode, and nothing else.

    Training mode: dropout p on the attention weights and dropout p on the result, under no_grad too.
    Evaluation mode: no randomness; gradients flow as before.
    Keep the parameters' names and shapes: qkv.weight, qkv.bias, out.weight.

    Example: Reader(8, 0.5).eval()(torch.zeros(2, 5, 8)) has shape (2, 5, 8), and two calls agree.
    """

    def __init__(self, width: int, p: float) -> None:
        super().__init__()
        self.p = p
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, positions, width) to the same shape."""
        ### BEGIN SOLUTION
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0)
        return F.dropout(self.out(mixed), self.p, training=self.training)
        ### END SOLUTION


# %% nbgrader={"grade_id": "check-7-3a", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("7.3a", Reader)
### BEGIN HIDDEN TESTS
check("7.3a", Reader, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# An evaluation is a guest in a training run. Three things give a careless guest away: the mode afterwards, the graph
# in its results, and a loss that depends on how the data were cut into batches.

# %% tags=["claim-7.3"]
torch.manual_seed(731)
block = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 3))
block.train()
block[1].eval()  # a batch norm kept in evaluation mode by design
flags = [m.training for m in block.modules()]
block.eval()
block.train()
print("flags before:", flags)
print("after eval() and train():", [m.training for m in block.modules()])
assert [m.training for m in block.modules()] != flags, "train() does not restore, it sets"

losses = torch.tensor([1.0, 1.0, 1.0, 1.0, 6.0])
cut = {
    sizes: sum(part.mean().item() for part in losses.split(list(sizes))) / len(sizes)
    for sizes in ((5,), (4, 1))
}
print("mean of batch means, by batch sizes:", cut)
assert cut == {(5,): 2.0, (4, 1): 3.5}

# %% [markdown]
# {{exercise 7.3b}}
#
# Write the evaluation loop: repeatable, without a graph, and with the model afterwards in the mode it came in, module
# by module, even when a forward raises.


# %% nbgrader={"grade_id": "evaluate", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def evaluate(model: nn.Module, batches: list[tuple[Tensor, Tensor]]) -> tuple[float, Tensor]:
    """Evaluate a classifier and leave no trace.

    model: maps (b, d) inputs to (b, c) logits; its modules may be in different modes.
    batches: at least one pair of inputs (b, d) and labels (b,); b may differ.
    Returns: (loss, logits): the mean cross entropy over all examples in evaluation mode, a Python float, and the
        logits (n, c) in the order of the batches, without a graph.
    Afterwards every module's training flag, all parameters and buffers, and the gradient switch are as before; so
    they are when the forward raises, and the error reaches the caller.

    Example: loss, logits = evaluate(model, [(torch.randn(4, 3), torch.tensor([0, 1, 1, 0]))])
    """
    ### BEGIN SOLUTION
    flags = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            logits = torch.cat([model(x) for x, _ in batches])
            labels = torch.cat([y for _, y in batches])
            return F.cross_entropy(logits, labels).item(), logits
    finally:
        for module, flag in flags.items():
            module.training = flag
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-7-3b", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("7.3b", evaluate)
### BEGIN HIDDEN TESTS
check("7.3b", evaluate, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Both repairs together: the loss of a leaky and of a repaired classifier, evaluated twice. A right loop cannot mend a
# leaky module, and it takes both to make a validation curve worth reading.


# %% tags=["uses-answer"]
def classifier(reader: type) -> nn.Module:
    """A reader over three positions of width four, flattened and mapped to three classes; always the same weights."""
    torch.manual_seed(732)
    return nn.Sequential(nn.Unflatten(1, (3, 4)), reader(4, 0.5), nn.Flatten(), nn.Linear(12, 3))


torch.manual_seed(733)
held_out = [(torch.randn(n, 12), torch.randint(0, 3, (n,))) for n in (8, 8, 3)]
try:
    for reader in (LeakyReader, Reader):
        model = classifier(reader)
        first, second = evaluate(model, held_out)[0], evaluate(model, held_out)[0]
        print(
            f"{reader.__name__:12} two evaluations agree: {first == second}   mode afterwards: train {model.training}"
        )
except NotImplementedError:
    print("Reader or evaluate is still to be written: exercises 7.3a and 7.3b")

# %% [markdown]
# ## What to take along
#
# | Symptom | Tempting repair | Cause, and the observable that shows it |
# |---|---|---|
# | fits one batch, learns nothing that holds | a larger model | torn pairs: ids against the table |
# | infinite loss on confident mistakes | epsilon, another label | rounding before the logarithm: logits and the gradient |
# | validation jumps between calls | a seed before validation | dropout still on: two calls on one input in evaluation mode |
