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
# # 02 · NaN and inf
#
# A `nan` or an `inf` on the screen is the last station of a journey. Somewhere before it stands the **first**
# number that was not finite, and only that place says what went wrong. This notebook finds it, checks what should
# have been checked before the first step, and repairs operations instead of symptoms.
#
# Five beliefs meet a measurement on the way. Which of them do you hold?
#
# 1. Anomaly mode finds every NaN. (2.8, 2.9)
# 2. A small epsilon repairs a logarithm. (2.13)
# 3. `torch.where` or `nan_to_num` removes a bad branch. (2.14)
# 4. A NaN means that the learning rate is too high. (2.16)
# 5. Gradient clipping cures a NaN. (2.16)

# %% tags=["setup"] nbgrader={"grade_id": "setup-02", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import math
import time
import warnings

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, explore, hint, solution

# %matplotlib inline
torch.set_num_threads(1)
torch.manual_seed(0)
plt.rcParams.update({"figure.figsize": (6.4, 3.2), "figure.dpi": 90, "axes.grid": True, "grid.alpha": 0.3})
NAN, INF = float("nan"), float("inf")

# %% [markdown]
# ## 2.1 The first boundary that fails
#
# One training step hands numbers over seven boundaries, in this order:
#
# input → parameter → module output → loss → gradient → optimizer state → updated parameter
#
# **Claim.** The first boundary that is not finite separates causes that look the same in the loss. Below, eight
# linear layers multiply their input by about 6 each. In float16, whose largest number is 65504, one of them is the
# first to overflow; the loss only reports it.


# %% tags=["claim-2.1"]
def largest_outputs(dtype, gain=6.0, layers=8, width=16):
    """Largest |output| of each layer of a linear stack, as Python floats; inf where one overflowed."""
    g = torch.Generator().manual_seed(1)
    x = torch.randn(4, width, generator=g).to(dtype)
    sizes = []
    for _ in range(layers):
        rotation = torch.linalg.qr(torch.randn(width, width, generator=g))[0]
        x = F.linear(x, (gain * rotation).to(dtype))
        sizes.append(x.abs().nan_to_num(nan=INF, posinf=INF).max().item())
    return sizes


half, single = largest_outputs(torch.float16), largest_outputs(torch.float32)
first = next(i for i, size in enumerate(half) if not math.isfinite(size))
print(f"float16: layer {first} is the first that is not finite, of {len(half)}")
print(f"float32, the same numbers: all finite is {all(map(math.isfinite, single))}")

assert (
    0 < first < 7 and half[first - 1] <= 65504 < single[first]
)  # the boundary is inside, and range is the cause
assert all(map(math.isfinite, single))  # control: with more range nothing fails
assert all(
    map(math.isfinite, largest_outputs(torch.float16, gain=2.0))
)  # control: with less growth nothing fails


# %% tags=["claim-2.1"]
def plot_layers(half, single):
    fig, ax = plt.subplots()
    good = [i for i, size in enumerate(half) if math.isfinite(size)]
    bad = [i for i, size in enumerate(half) if not math.isfinite(size)]
    ax.semilogy(range(len(single)), single, "--s", mfc="none", color="0.35", label="float32")
    ax.semilogy(good, [half[i] for i in good], "-o", color="tab:blue", label="float16, finite")
    ax.semilogy(bad, [65504.0] * len(bad), "X", ms=10, color="tab:red", label="float16, not finite")
    ax.axhline(65504, ls=":", color="k")
    ax.annotate("first failure", (bad[0], 65504), (bad[0] - 2.6, 4e6), arrowprops={"arrowstyle": "->"})
    ax.set(xlabel="layer", ylabel="largest |output|", title="The first failing boundary along the layers")
    ax.legend(loc="lower right")
    plt.show()


plot_layers(half, single)

# %% [markdown]
# *Largest output of each layer. Squares on the dashed line: float32. Dots: float16 while finite; crosses on the
# dotted line (65504, the end of float16): not finite. Every cross after the first is a consequence of it.*
#
# Why the *first*, and why look forward? Put one NaN into the weight of a layer and move it along.


# %%
def boundaries(fault=3, layers=8, width=6):
    """Whether each layer's output, and each weight's gradient, is finite when one weight of layer `fault` is NaN."""
    torch.manual_seed(0)
    model = nn.Sequential(*(nn.Linear(width, width) for _ in range(layers)))
    with torch.no_grad():
        model[fault].weight[0, 0] = math.nan
    out, finite = torch.randn(4, width), []
    for layer in model:
        out = layer(out)
        finite.append(bool(out.isfinite().all()))
    out.square().mean().backward()
    return finite, [bool(layer.weight.grad.isfinite().all()) for layer in model]


def plot_boundaries(fault=3):
    finite, with_gradient = boundaries(fault)
    fig, ax = plt.subplots(figsize=(6.4, 2.0))
    ax.grid(False)
    for row, values in ((1, finite), (0, with_gradient)):
        for layer, ok in enumerate(values):
            ax.add_patch(plt.Rectangle((layer, row), 1, 1, fc="white" if ok else "0.85", ec="k", hatch="" if ok else "///"))
            ax.text(layer + 0.5, row + 0.5, "finite" if ok else "nan", ha="center", va="center", fontsize=8,
                    bbox={"fc": "white", "ec": "none", "pad": 1})
    first = finite.index(False)
    ax.annotate("first", (first + 0.5, 2), (first + 0.5, 2.45), ha="center", arrowprops={"arrowstyle": "->"})
    ax.set(xlim=(0, len(finite)), ylim=(0, 2.9), xticks=[i + 0.5 for i in range(len(finite))],
           xticklabels=range(len(finite)), yticks=[0.5, 1.5], yticklabels=["gradient of weight", "output"], xlabel="layer",
           title=f"one NaN in the weight of layer {fault}")
    plt.show()


plot_boundaries()
for fault in range(8):
    finite, with_gradient = boundaries(fault)
    assert finite == [True] * fault + [False] * (8 - fault)  # forward, the first bad output is the fault's own
    assert not any(with_gradient)  # backward, the NaN reaches every weight: gradients point nowhere

# %% [markdown]
# *Outputs above, gradients below; hatched is not finite. The first bad output is that of the faulty layer, wherever it
# is. The gradients are NaN in every layer, before the fault and behind it.*

# %% tags=["widget", "nbval-skip"]
explore(plot_boundaries, {"fault": "faulty layer"}, fault=(0, 7, 1))

# %% [markdown]
# {{exercise 2.1}}
#
# Write the finder: run **one** training step, look at every boundary the moment it is made, and report the first
# that holds a `nan` or an `inf`. Healthy runs are among the cases, some with huge numbers.


# %% nbgrader={"grade_id": "first-nonfinite", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def first_nonfinite(
    model: nn.Module, loss_fn: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor
) -> dict[str, str]:
    """Run one step of training and find the first boundary that is not finite.

    model: any module; its outputs, and those of its submodules, are tensors or tuples of tensors and None.
    loss_fn: a module, called as loss_fn(output, y), that returns a scalar. optimizer: made for this model; it may
        hold state from earlier steps already.
    x, y: one batch, of any floating or integer dtype.

    One step: clear the gradients, forward, loss, backward, optimizer step. Leave training mode as it is.

    Returns {"boundary": ..., "name": ...}. The boundaries, in order, with the name that goes with each:
        "input"              "x" or "y"
        "parameter"          the name in model.named_parameters(), before the step; the first one of that order
        "module output"      the name in model.named_modules() of the innermost module that failed first
        "loss"               ""
        "gradient"           a parameter's name, the first one in the order of named_parameters()
        "optimizer state"    the name of the parameter that the state belongs to, after the step; the first one
        "updated parameter"  a parameter's name, after the step; the first one
        "none"               ""   when everything is finite. Buffers are not looked at.

    Example: a healthy nn.Linear gives {"boundary": "none", "name": ""}; with a nan in its bias,
    {"boundary": "parameter", "name": "bias"}.
    """

    ### BEGIN SOLUTION
    def bad(value):
        if isinstance(value, (tuple, list)):
            return any(bad(v) for v in value)
        return isinstance(value, torch.Tensor) and not bool(torch.isfinite(value).all())

    def scan():
        for name, tensor in (("x", x), ("y", y)):
            if bad(tensor):
                yield "input", name
        yield from (("parameter", n) for n, p in model.named_parameters() if bad(p))
        failed, handles = [], []
        for name, module in model.named_modules():
            # looked at while it runs: a later in-place module may overwrite this output
            def look(module, args, output, name=name):
                if bad(output):
                    failed.append(name)

            handles.append(module.register_forward_hook(look))
        optimizer.zero_grad()
        output = model(x)
        for handle in handles:
            handle.remove()
        yield from (("module output", name) for name in failed)
        loss = loss_fn(output, y)
        if bad(loss):
            yield "loss", ""
        loss.backward()
        yield from (("gradient", n) for n, p in model.named_parameters() if bad(p.grad))
        optimizer.step()
        for name, p in model.named_parameters():
            if bad(list(optimizer.state.get(p, {}).values())):
                yield "optimizer state", name
        yield from (("updated parameter", n) for n, p in model.named_parameters() if bad(p))

    boundary, name = next(scan(), ("none", ""))
    return {"boundary": boundary, "name": name}
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-2-1", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("2.1", first_nonfinite)
### BEGIN HIDDEN TESTS
check("2.1", first_nonfinite, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Your finder on a run whose loss looks fine: Adam with an epsilon of 0, and one unit that is dead.

# %% tags=["uses-answer"]
torch.manual_seed(3)
victim = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
victim[0].bias.data[0] = -50.0  # this unit never fires, so its gradient is exactly 0
batch, labels = torch.randn(6, 3), torch.randint(0, 2, (6,))
print("loss is finite:", math.isfinite(F.cross_entropy(victim(batch), labels).item()))
try:
    print(
        first_nonfinite(
            victim, nn.CrossEntropyLoss(), torch.optim.Adam(victim.parameters(), eps=0.0), batch, labels
        )
    )
except NotImplementedError:
    print("This cell uses your first_nonfinite: solve exercise 2.1, then run it again.")

# %% [markdown]
# ## 2.2 When it fails narrows the search, no more
#
# **Claim.** A failure at step zero points to the input, the initialization, or the forward pass and the loss. A
# later one may come from a data outlier, a corrupted state, growing numbers, or an operation that is reached only
# then. A step at which it fails every time is no sign of broken hardware: software repeats itself.
#
# **Control.** Seven causes, all of them software, each run twice.


# %% tags=["claim-2.2"]
def failing_step(cause, steps=40):
    """The first step whose loss is not finite, or None."""
    torch.manual_seed(5)
    x, y = torch.randn(steps, 8, 3), torch.randn(steps, 8, 1)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=20.0 if cause == "rate too high" else 0.05, momentum=0.9
    )
    scale = nn.Parameter(torch.tensor(1.0))
    if cause == "inf in the input":
        x[0, 0, 0] = INF
    if cause == "initial weights overflow":
        model.weight.data.fill_(1e38)
    if cause == "outlier in batch 17":
        x[17, 2, 1] = 1e30
    for step in range(steps):
        if cause == "state corrupted at step 9" and step == 9:
            optimizer.state[model.weight]["momentum_buffer"][0, 0] = NAN
        loss = F.mse_loss(model(x[step]), y[step])
        if cause == "log of a raw output":
            loss = loss + (-model(x[step]).square()).log().mean()
        if cause == "log of a shrinking weight":
            loss = loss + scale.log()
        if not math.isfinite(loss.item()):
            return step
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scale.data -= 0.05
    return None


CAUSES = {
    "at step zero": ("inf in the input", "initial weights overflow", "log of a raw output"),
    "later": (
        "outlier in batch 17",
        "state corrupted at step 9",
        "rate too high",
        "log of a shrinking weight",
    ),
}
for when, causes in CAUSES.items():
    for cause in causes:
        step, again = failing_step(cause), failing_step(cause)
        print(f"{when:12}  {cause:26}  same step when repeated: {step == again}")
        assert step is not None and step == again
        assert (step == 0) == (when == "at step zero")
assert failing_step("outlier in batch 17") == 17 and failing_step("state corrupted at step 9") == 10
assert failing_step("nothing") is None  # control: without a fault none of the forty steps fails

# %% [markdown]
# The corrupted state of step 9 shows itself in the loss of step 10. *When the loss fails* and *where the first
# failing boundary lies* are two questions.
#
# ## 2.3 The contract, before the first step
#
# **Claim.** `cross_entropy` refuses some bad batches loudly and accepts others in silence. What is silent has to be
# checked by you: before optimizing, and by name.


# %% tags=["claim-2.3"]
def reaction(logits, target, **options):
    """What cross_entropy does with a batch: "raises", "not finite" or "finite"."""
    try:
        loss = F.cross_entropy(logits, target, **options)
    except (RuntimeError, ValueError, IndexError):
        return "raises"
    return "finite" if math.isfinite(loss.item()) else "not finite"


torch.manual_seed(0)
z, t = torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 0, 1])
square = torch.randn(2, 5, 5)  # (N, length, classes) where both are 5
bad_batches = {
    "label equal to C": (z, t + 1),
    "labels of dtype int32": (z, t.int()),
    "labels of shape (N, 1)": (z, t[:, None]),
    "a nan among the logits": (z.index_fill(0, torch.tensor([2]), NAN), t),
    "every label ignored": (z, torch.full_like(t, -100)),
    "soft targets that sum to 2": (z, 2 * z.softmax(1)),
    "soft targets below 0": (z, z),
    "classes in the last dimension": (square, torch.randint(0, 5, (2, 5))),
}
seen = {name: reaction(*batch) for name, batch in bad_batches.items()}
for name, what in seen.items():
    print(f"{name:30}  {what}")
# the last three are as wrong as the first five, and nothing says so
assert list(seen.values()) == ["raises"] * 3 + ["not finite"] * 2 + ["finite"] * 3

good_batches = {  # control: valid batches of every kind give a finite loss
    "class indices": (z, t),
    "with ignored labels": (z, t.masked_fill(t == 3, -100)),
    "soft targets": (z, z.softmax(1)),
    "one more dimension": (torch.randn(2, 4, 5), torch.randint(0, 4, (2, 5))),
}
assert {reaction(*batch) for batch in good_batches.values()} == {"finite"}

# %% [markdown]
# {{exercise 2.3}}
#
# Write the check that names every violated clause, and no other. Valid batches of all kinds must pass.


# %% nbgrader={"grade_id": "contract", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def violated(
    logits: torch.Tensor, target: torch.Tensor, mask: torch.Tensor | None = None, ignore_index: int = -100
) -> list[str]:
    """Name the clauses of the cross-entropy contract that a batch violates, each once; [] when it is valid.

    logits: (C,), (N, C) or (N, C, d1, ..., dK). Its *positions* are its shape without C: (), (N,), (N, d1, ..., dK).
    target: class indices in the shape of the positions, or *soft targets*: floating point, in the logits' own shape.
        Whatever isn't a soft target is judged as class indices.
    mask: None, or True at each position that is scored.

    The clauses:
        "logits dtype"   floating point
        "logits finite"  every entry, scored or not; large finite numbers are fine
        "target dtype"   class indices are int64
        "target shape"   class indices have the shape of the positions
        "target range"   class indices lie in [0, C) or equal ignore_index, masked or not;
                         soft targets are not negative and sum to 1 over the classes within 0.01
        "mask"           bool, in the shape of the positions
        "denominator"    at least one position is scored: the mask, where there is one, is True there and a
                         class index there is not ignore_index
    A clause that can't be judged is not named: "target range" needs the target's dtype and shape in order,
    "denominator" needs these two and "mask".

    Example: logits (2, 3) of zeros with target tensor([0, 3]) give ["target range"].
    """
    ### BEGIN SOLUTION
    class_dim = min(1, logits.dim() - 1)
    positions = logits.shape[:class_dim] + logits.shape[class_dim + 1 :]
    soft = target.is_floating_point() and target.shape == logits.shape
    keeps = {
        "logits dtype": logits.is_floating_point(),
        "logits finite": bool(torch.isfinite(logits).all()),
        "target dtype": soft or target.dtype == torch.int64,
        "target shape": soft or target.shape == positions,
        "mask": mask is None or (mask.dtype == torch.bool and mask.shape == positions),
    }
    if keeps["target dtype"] and keeps["target shape"]:
        if soft:
            scored = torch.ones(positions, dtype=torch.bool)
            sums = target.sum(class_dim)
            keeps["target range"] = bool((target >= 0).all() and ((sums - 1).abs() <= 0.01).all())
        else:
            scored = target != ignore_index
            inside = (target >= 0) & (target < logits.shape[class_dim])
            keeps["target range"] = bool((inside | ~scored).all())
        if keeps["mask"]:
            keeps["denominator"] = bool((scored if mask is None else scored & mask).any())
    return [clause for clause, kept in keeps.items() if not kept]
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-2-3", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("2.3", violated)
### BEGIN HIDDEN TESTS
check("2.3", violated, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 2.4 Logits with one loss, probabilities with the other
#
# **Claim.** Binary or multilabel *logits* go with `BCEWithLogitsLoss`, *probabilities* with `BCELoss`. The right
# pairings agree to rounding; crossed, they give an error or another number.

# %% tags=["claim-2.4"]
logits = torch.tensor([-3.0, -0.5, 0.2, 2.0])
target = torch.tensor([0.0, 1.0, 1.0, 0.0])
with_logits, with_probabilities = nn.BCEWithLogitsLoss(), nn.BCELoss()
one = with_logits(logits, target).item()
two = with_probabilities(logits.sigmoid(), target).item()
crossed = with_logits(logits.sigmoid(), target).item()
try:
    with_probabilities(logits, target)
    refused = False
except RuntimeError:
    refused = True
print(f"right pairings     {one:.4f} and {two:.4f}")
print(f"probabilities taken for logits  {crossed:.4f}")
print(f"logits taken for probabilities  refused: {refused}")
assert abs(one - two) < 1e-6
assert abs(crossed - one) > 0.05 and refused
# logits that happen to lie in [0, 1] are not refused: the error is a courtesy, not a check
inside = torch.tensor([0.3, 0.6, 0.9, 0.1])
assert abs(with_probabilities(inside, target).item() - with_logits(inside, target).item()) > 0.05

# %% [markdown]
# ## 2.5 A mean over nothing
#
# **Claim.** With no valid target a mean is undefined. Count the supervised tokens *after* masking.
#
# **Control.** With a guarded count, or with one target restored, the loss is finite. Note the second column: the
# built-in loss is NaN with a gradient of zero, the hand-written one with a NaN gradient that reaches the weights.


# %% tags=["claim-2.5"]
def loss_and_gradient(loss_of, target):
    z = torch.linspace(-1, 1, 12).reshape(4, 3).requires_grad_()
    loss = loss_of(z, target)
    loss.backward()
    return loss.item(), z.grad.abs().sum().item()


def built_in(z, target):
    return F.cross_entropy(z, target, ignore_index=-100)


def by_hand(z, target):
    scored = (target != -100).float()
    return (F.cross_entropy(z, target.clamp(min=0), reduction="none") * scored).sum() / scored.sum()


def guarded(z, target):
    total = F.cross_entropy(z, target, ignore_index=-100, reduction="sum")
    return total / (target != -100).sum().clamp(min=1)


nothing, something = torch.full((4,), -100), torch.tensor([-100, 2, -100, -100])
results = {}
for name, loss_of in {"built-in mean": built_in, "mean by hand": by_hand, "guarded count": guarded}.items():
    results[name] = loss_and_gradient(loss_of, nothing), loss_and_gradient(loss_of, something)
    (loss, grad), (loss_one, grad_one) = results[name]
    print(
        f"{name:14}  nothing scored: loss {loss:.2f}, |gradient| {grad:.2f}   one scored: {loss_one:.4f}, {grad_one:.4f}"
    )
assert math.isnan(results["built-in mean"][0][0]) and results["built-in mean"][0][1] == 0
assert math.isnan(results["mean by hand"][0][0]) and math.isnan(results["mean by hand"][0][1])
assert results["guarded count"][0] == (0, 0)
restored = [both[1] for both in results.values()]
assert all(math.isclose(a, b, rel_tol=1e-5) for other in restored for a, b in zip(other, restored[0]))

# %% [markdown]
# ## 2.6 The next token
#
# **Claim.** The targets of a language model are its inputs shifted by one, and padding is not scored.
#
# **Control.** A "model" that merely copies its input is nearly perfect on targets that were not shifted, and
# useless on shifted ones. And scoring the padding lets a model that knows nothing but padding look good.

# %% tags=["claim-2.6"]
torch.manual_seed(0)
text = torch.randint(1, 20, (4, 9))
copying = 12 * F.one_hot(text, 20).float()  # logits (4, 9, 20): "the token that I see"
unshifted = F.cross_entropy(copying.transpose(1, 2), text).item()
shifted = F.cross_entropy(copying[:, :-1].transpose(1, 2), text[:, 1:]).item()
print(
    f"copying model: loss {unshifted:.4f} on unshifted targets, {shifted:.2f} on shifted ones (log 20 is {math.log(20):.2f})"
)
assert unshifted < 1e-3 and shifted > math.log(20)

padded = F.pad(text, (0, 27))  # 0 is the padding's id
only_padding = torch.zeros(4, 36, 20)
only_padding[..., 0] = 5.0  # logits of "padding, always"
scored_too = F.cross_entropy(only_padding.transpose(1, 2), padded).item()
not_scored = F.cross_entropy(only_padding.transpose(1, 2), padded, ignore_index=0).item()
print(f"padding-only model: loss {scored_too:.2f} with the padding scored, {not_scored:.2f} without")
assert scored_too < math.log(20) < not_scored

# %% [markdown]
# {{exercise 2.6}}
#
# Build inputs, targets and the mask of what is scored. Padding may stand on either side, and its id may be the id
# of a real token: many tokenizers pad with their end token.


# %% nbgrader={"grade_id": "next-token", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def next_token(tokens: torch.Tensor, real: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Inputs, targets and the mask for next-token prediction.

    tokens: (B, T) int64, T >= 1. real: (B, T) bool, False where tokens holds padding; each row's real tokens
        stand next to each other, with padding before or after them, or there are none.

    Returns (inputs, targets, scored), each of shape (B, T - 1):
        inputs   int64  what the model reads at each position
        scored   bool   True where that input and the token after it are both real
        targets  int64  the token after it where scored, -100 elsewhere

    Example: tokens [[5, 6, 7, 0]] with real [[True, True, True, False]] give inputs [[5, 6, 7]],
    targets [[6, 7, -100]] and scored [[True, True, False]].
    """
    ### BEGIN SOLUTION
    scored = real[:, :-1] & real[:, 1:]
    targets = tokens[:, 1:].masked_fill(~scored, -100)
    return tokens[:, :-1], targets, scored
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-2-6", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("2.6", next_token)
### BEGIN HIDDEN TESTS
check("2.6", next_token, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 2.7 One prediction too many dimensions
#
# **Claim.** Broadcasting can turn one prediction per example into a matrix of losses: `(n, 1)` against `(n,)` gives
# `n * n` terms and another mean.
#
# **Control.** Permute the targets. The true loss changes; the matrix pairs every prediction with every target, so
# its mean can't.

# %% tags=["claim-2.7"]
prediction, target = torch.arange(4.0)[:, None], torch.arange(4.0)
terms = (prediction - target) ** 2
matched = (prediction.squeeze(1) - target) ** 2
permuted = target[torch.tensor([1, 2, 3, 0])]
print(f"(4, 1) against (4,): {terms.numel()} terms, mean {terms.mean().item():.2f}")
print(f"(4,)   against (4,): {matched.numel()} terms, mean {matched.mean().item():.2f}")
assert terms.numel() == 16 and matched.numel() == 4
assert matched.mean() == 0 and terms.mean() == 2.5  # a perfect prediction with a loss of 2.5
assert ((prediction - permuted) ** 2).mean() == terms.mean()
assert ((prediction.squeeze(1) - permuted) ** 2).mean() == 3.0


# %% tags=["claim-2.7"]
def same_shape(prediction, target):
    """The check that catches it, before any arithmetic."""
    if prediction.shape != target.shape:
        raise ValueError(f"prediction {tuple(prediction.shape)} against target {tuple(target.shape)}")


try:
    same_shape(prediction, target)
    caught = False
except ValueError as error:
    caught = True
    print("caught:", error)
same_shape(prediction.squeeze(1), target)  # control: matching shapes pass
assert caught

# %% [markdown]
# ## 2.8 What anomaly mode promises
#
# **Claim.** `torch.autograd.detect_anomaly(check_nan=True)` around forward *and* backward remembers where each
# operation was called and raises when a backward function makes a NaN. The accompanying warning leads to the line
# of the forward pass.
#
# **Control.** The same division of two ones raises nothing; and with the forward pass outside of the context, the
# error still comes but the line is lost.


# %% tags=["claim-2.8"]
def suspicious_line(a):
    return a / a


def under_anomaly_mode(number, forward_inside=True):
    """(error or None, text of all warnings) of a backward pass through suspicious_line."""
    a = torch.tensor(number, requires_grad=True)
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        try:
            before = None if forward_inside else suspicious_line(a)
            with torch.autograd.detect_anomaly(check_nan=True):
                (suspicious_line(a) if forward_inside else before).backward()
            error = None
        except RuntimeError as raised:
            error = str(raised)
    return error, "\n".join(str(notice.message) for notice in notices)


error, notices = under_anomaly_mode(0.0)
print("0/0 raises:", error)
print("the warning shows the forward line:", "return a / a" in notices)
assert error is not None and "nan" in error and "suspicious_line" in notices

assert under_anomaly_mode(1.0)[0] is None  # control: 1/1 raises nothing
error, notices = under_anomaly_mode(0.0, forward_inside=False)
print("forward outside: raises", error is not None, "| shows the line:", "suspicious_line" in notices)
assert error is not None and "suspicious_line" not in notices

# %% [markdown]
# ## 2.9 What it does not promise
#
# **Claim.** It is no complete detector. It watches what backward functions *return*, and only for NaN: an infinite
# gradient passes, and so does every forward value that makes no NaN on the way back.


# %% tags=["claim-2.9"]
def anomaly_raises(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with torch.autograd.detect_anomaly(check_nan=True):
                run()
        except RuntimeError:
            return True
    return False


def sqrt_at_zero():
    x = torch.zeros((), requires_grad=True)
    y = x.sqrt()
    y.backward()
    found.update(forward=y.item(), gradient=x.grad.item())


def forward_inf():
    x = torch.tensor(100.0, requires_grad=True)
    hidden = x.exp()  # inf in float32
    loss = 1 / (1 + hidden.detach()) + x
    loss.backward()
    found.update(forward=hidden.item(), gradient=x.grad.item())


def forward_nan():
    z = torch.zeros(2, 3, requires_grad=True)
    loss = F.cross_entropy(z, torch.tensor([-100, -100]))
    loss.backward()
    found.update(forward=loss.item(), gradient=z.grad.abs().max().item())


def zero_by_zero():
    x = torch.zeros((), requires_grad=True)
    y = x / x
    found.update(forward=y.item(), gradient=NAN)
    y.backward()


passed = {}
for run in (sqrt_at_zero, forward_inf, forward_nan, zero_by_zero):
    found = {}
    raised = anomaly_raises(run)
    passed[run.__name__] = found, raised
    print(
        f"{run.__name__:13}  forward {found['forward']:4}  gradient {found['gradient']:4}  anomaly mode raises: {raised}"
    )
assert passed["sqrt_at_zero"] == ({"forward": 0.0, "gradient": INF}, False)
assert passed["forward_inf"] == ({"forward": INF, "gradient": 1.0}, False)
assert math.isnan(passed["forward_nan"][0]["forward"]) and not passed["forward_nan"][1]
assert passed["zero_by_zero"][1]  # control: the detector was on, and does catch what it promises

# %% [markdown]
# So use it *beside* explicit finite checks: your finder of 2.1 says at which boundary, anomaly mode says at which
# line.
#
# ## 2.10 What it costs
#
# **Claim.** It slows a run down by no fixed factor. Each node of the graph keeps a stack trace, and each result of
# a backward function is searched, so the price depends on how many operations there are and how large each is.


# %% tags=["claim-2.10"]
def many_small():
    x = torch.ones(4, requires_grad=True)
    y = x
    for _ in range(200):
        y = y * 1.001
    return y.sum()


def few_large():
    x = torch.full((300, 300), 0.01, requires_grad=True)
    return (x @ x @ x).sum()


def traced_nodes(graph):
    """(nodes, nodes that keep a stack trace) of a graph built in anomaly mode or outside."""
    todo, seen = [graph().grad_fn], set()
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
    return len(seen), sum("traceback_" in node.metadata for node in seen)


for graph in (many_small, few_large):
    plain = traced_nodes(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            watched = traced_nodes(graph)
    print(
        f"{graph.__name__:10}  more than 100 nodes: {plain[0] > 100}; traced outside: {plain[1]}; "
        f"traced inside: {'all operations' if watched[1] >= watched[0] - 1 else watched[1]}"
    )
    assert plain[1] == 0 and watched[1] >= watched[0] - 1  # the leaf's accumulator is no operation
    assert (plain[0] > 100) == (graph is many_small)  # so the price of tracing differs

# %% [markdown]
# The ratios of your machine follow; run the cell twice and they move. Nothing is asserted about time.


# %% tags=["claim-2.10", "nbval-ignore-output"]
def seconds(graph, repeats=15):
    best = INF
    for _ in range(repeats):
        start = time.perf_counter()
        graph().backward()
        best = min(best, time.perf_counter() - start)
    return best


for graph in (many_small, few_large):
    plain = seconds(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            watched = seconds(graph)
    print(
        f"{graph.__name__:10}  {1e3 * plain:6.2f} ms plain, {1e3 * watched:6.2f} ms watched: factor {watched / plain:.1f}"
    )

# %% [markdown]
# ## 2.11 Infinite or exactly 2000
#
# **Claim.** For logits (1000, −1000) and target 1, the logarithm of the softmax is infinite; cross entropy on the
# logits is exactly 2000, with finite gradients.
#
# **Control.** At moderate logits the two agree, so it is the scale that separates them.


# %% tags=["claim-2.11"]
def naive(z, target):
    return -z.softmax(1)[0, target].log()


def stable(z, target):
    return F.cross_entropy(z, torch.tensor([target]))


z = torch.tensor([[1000.0, -1000.0]], requires_grad=True)
print("log of softmax:", naive(z, 1).item(), "  cross entropy:", stable(z, 1).item())
stable(z, 1).backward()
print("gradient of cross entropy:", z.grad.tolist())
assert naive(z, 1).item() == INF and stable(z, 1).item() == 2000.0
assert z.grad.tolist() == [[1.0, -1.0]]
moderate = torch.tensor([[2.0, -2.0]])
assert abs(naive(moderate, 1).item() - stable(moderate, 1).item()) < 1e-5


# %% tags=["claim-2.11"]
def log_probabilities(scale, dtype=torch.float32):
    """(naive, stable) log-probability of class 1 for logits (scale, -scale)."""
    z = torch.tensor([[scale, -scale]], dtype=dtype)
    return -naive(z, 1).item(), -stable(z, 1).item()


def plot_log_probability(scale=40.0):
    fig, ax = plt.subplots()
    scales = [2.0 * i for i in range(51)]
    pairs = [log_probabilities(s) for s in scales]
    ax.plot(scales, [p[1] for p in pairs], "-", color="tab:blue", label="stable: from the logits")
    kept = [(s, p[0]) for s, p in zip(scales, pairs) if math.isfinite(p[0])]
    ax.plot(*zip(*kept), "o", mfc="none", color="tab:orange", label="naive: log of softmax")
    ax.axvspan(kept[-1][0] + 1, 100, hatch="///", fc="none", ec="0.6", label="naive is -inf")
    one, other = log_probabilities(scale)
    ax.plot([scale], [other], "*", ms=13, color="k", label=f"scale {scale:g}: {one:.4g} and {other:.4g}")
    ax.set(xlabel="logit scale s, logits (s, -s)", ylabel="log-probability of class 1", xlim=(0, 100))
    ax.legend(fontsize=8)
    plt.show()
    return kept


kept = plot_log_probability()
assert 40 <= kept[-1][0] < 60  # where float32 has no smaller number left
assert all(
    abs(value + 2 * s) < 1 for s, value in kept
)  # until then naive follows the line; near its end, coarsely
assert log_probabilities(60.0) == (-INF, -120.0)

# %% [markdown]
# *Log-probability of the losing class. Line: computed from the logits. Circles: logarithm of the softmax, which
# leaves the picture (hatched) once the probability rounds to zero.*

# %% tags=["widget", "nbval-skip"]
explore(plot_log_probability, {"scale": "logit scale"}, scale=(0, 100, 2))

# %% [markdown]
# ## 2.12 Repair the operation
#
# **Claim.** Raw `exp` overflows. Subtracting the maximum stops that, and does not save the logarithm of a
# probability that has rounded to zero. What helps is another *operation*, in which the logarithm and the
# exponential cancel on paper.

# %% tags=["claim-2.12"]
z = torch.tensor([1000.0, -1000.0])
raw = z.exp()
safe = (z - z.max()).exp()
probabilities = safe / safe.sum()
print("raw exp:", raw.tolist())
print("after subtracting the maximum:", safe.tolist(), " its logarithm:", probabilities.log().tolist())
assert raw[0] == INF and (raw / raw.sum()).isnan().any()  # inf / inf
assert torch.isfinite(probabilities).all() and probabilities.log()[1] == -INF
for dtype, limit in ((torch.float32, 88.7), (torch.float16, 11.05)):
    edge = torch.tensor([limit, limit + 0.1], dtype=dtype).exp()
    print(
        f"exp in {str(dtype)[6:]}: finite at {limit}, infinite at {limit + 0.1:.2f}: "
        f"{math.isfinite(edge[0].item()) and math.isinf(edge[1].item())}"
    )
    assert torch.isfinite(edge[0]) and torch.isinf(edge[1])
small = torch.tensor([2.0, -2.0])  # control: at moderate scale nothing is lost
assert torch.allclose((small.exp() / small.exp().sum()).log(), small - torch.tensor(2.0181499))

# %% [markdown]
# {{exercise 2.12}}
#
# Five expressions, each right on paper and each broken in float32. Write them so that value **and** gradient are
# right for every finite `z`. The lines around your code compute the gradient.


# %% nbgrader={"grade_id": "stable-ops", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def repaired(name: str, z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The value of an expression, and the gradient of the value's sum by z.

    z: (N, C) float32, C >= 2, any finite numbers up to some thousands in size.
    name: which expression, as it must not be computed:
        "log_softmax"  torch.log(torch.softmax(z, -1))              (N, C)
        "logsumexp"    torch.log(torch.exp(z).sum(-1))              (N,)
        "softplus"     torch.log(1 + torch.exp(z))                  (N, C)
        "log_not"      torch.log(1 - torch.sigmoid(z))              (N, C)
        "entropy"      p = torch.softmax(z, -1)
                       -(p * torch.log(p)).sum(-1)                  (N,)

    Returns (value, gradient), float32; the gradient has the shape of z.
    Example: "softplus" of [[1000., -1000.]] has the value [[1000., 0.]] and the gradient [[1., 0.]].
    """
    z = z.detach().requires_grad_()
    ### BEGIN SOLUTION
    if name == "log_softmax":
        value = F.log_softmax(z, dim=-1)
    elif name == "logsumexp":
        value = torch.logsumexp(z, dim=-1)
    elif name == "softplus":
        value = F.softplus(z)
    elif name == "log_not":
        value = F.logsigmoid(-z)  # 1 - sigmoid(z) is sigmoid(-z)
    elif name == "entropy":
        log_p = F.log_softmax(z, dim=-1)
        value = -(log_p.exp() * log_p).sum(-1)
    ### END SOLUTION
    value.sum().backward()
    return value.detach(), z.grad


# %% nbgrader={"grade_id": "check-2-12", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("2.12", repaired)
### BEGIN HIDDEN TESTS
check("2.12", repaired, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 2.13 An epsilon is another objective
#
# **Claim.** `log(x + eps)` and `sqrt(x + eps)` compute another function and do not help a negative `x`. Where a
# probability has rounded to zero, the epsilon makes the *value* finite and leaves a gradient of exactly zero: the
# loss looks repaired and teaches nothing. And an epsilon must mean something at the dtype and the scale at hand.

# %% tags=["claim-2.13"]
x = torch.tensor([1e-8, 1.0, -0.5])
print(
    "log:",
    [f"{v:.2f}" for v in x.log().tolist()],
    " with 1e-6:",
    [f"{v:.2f}" for v in (x + 1e-6).log().tolist()],
)
assert (x.log() - (x + 1e-6).log())[0].abs() > 4  # the value has moved by more than 4
assert (x.log() - (x + 1e-6).log())[1].abs() < 1e-5  # control: far from zero it has not
assert (x + 1e-6).log()[2].isnan() and (x + 1e-6).sqrt()[2].isnan()  # negative is negative still

z = torch.tensor([[1000.0, -1000.0]], requires_grad=True)
loss = -(z.softmax(1)[0, 1] + 1e-8).log()
loss.backward()
print(f"log(softmax + 1e-8): loss {loss.item():.2f} instead of 2000, gradient {z.grad.abs().tolist()}")
assert math.isclose(loss.item(), -math.log(1e-8), rel_tol=1e-4) and z.grad.abs().max() == 0
(gradient,) = torch.autograd.grad(stable(z, 1), z)
assert gradient.tolist() == [[1.0, -1.0]]  # control: the repaired operation does teach

# %% tags=["claim-2.13"]
zero = {dtype: torch.zeros((), dtype=dtype) for dtype in (torch.float16, torch.bfloat16, torch.float32)}
for dtype, x in zero.items():
    answers = {eps: math.isfinite((1 / (x + eps)).item()) for eps in (1e-8, 1e-5, 1e-4)}
    print(
        f"{str(dtype)[6:]:9} 1/(0 + eps) is finite:",
        ", ".join(f"{eps:g} {ok}" for eps, ok in answers.items()),
    )
    assert list(answers.values()) == ([False, False, True] if dtype == torch.float16 else [True, True, True])
assert torch.tensor(1e-8, dtype=torch.float16) == 0  # the first vanishes,
assert torch.tensor(1e-5, dtype=torch.float16) > 0  # the second is there, and its reciprocal too large
assert torch.tensor(1.0) + 1e-8 == 1.0  # next to 1 it vanishes even in float32
assert torch.tensor(1.0) + 1e-6 > 1.0  # control

# %% [markdown]
# ## 2.14 The branch that nobody chose
#
# **Claim.** Masking the *output* of an invalid branch lets its derivative through: backward multiplies the mask's 0
# by an infinite or undefined slope, and 0 · inf is NaN. `nan_to_num` on the output comes just as late.
#
# **Control.** Where no row is invalid, the same code has the right gradient: the branch is the cause.


# %% tags=["claim-2.14"]
def gradient_of(function, numbers):
    x = torch.tensor(numbers, requires_grad=True)
    value = function(x)
    value.sum().backward()
    return value.tolist(), x.grad.tolist()


attempts = {
    "where": lambda x: torch.where(x > 0, x.sqrt(), 0.0),
    "times mask": lambda x: x.clamp(min=0).sqrt() * (x > 0),
    "nan_to_num": lambda x: x.sqrt().nan_to_num(0.0),
}
for name, attempt in attempts.items():
    value, gradient = gradient_of(attempt, [-1.0, 0.0, 4.0])
    print(f"{name:10}  value {value}  gradient is finite: {[math.isfinite(g) for g in gradient]}")
    assert value == [0.0, 0.0, 2.0]  # what one looks at is right
    assert not all(map(math.isfinite, gradient)) and gradient[2] == 0.25
    value, gradient = gradient_of(attempt, [1.0, 4.0])
    assert value == [1.0, 2.0] and gradient == [0.5, 0.25]  # control: all rows valid

# %% [markdown]
# One bad row is enough for a whole layer, because a weight's gradient is a sum over rows:

# %% tags=["claim-2.14"]
w = torch.tensor([1.0, 0.5], requires_grad=True)
features = torch.tensor([[1.0, 2.0], [3.0, 1.0], [-4.0, 0.0]])  # the last row lands below zero
x = features @ w
torch.where(x > 0, x.sqrt(), 0.0).sum().backward()
print("gradient by the weights:", w.grad.tolist())
assert w.grad.isnan().all()  # even the second weight, whose feature is 0 in that row: 0 * nan

# %% [markdown]
# {{exercise 2.14}}
#
# Apply an operation to the valid rows alone, and get the gradient that they alone would give. The lines around
# your code compute it. `sqrt` is one of seven operations.


# %% nbgrader={"grade_id": "safe-branch", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def masked_op(
    op: str, w: torch.Tensor, features: torch.Tensor, valid: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """f(features @ w) where valid and 0 elsewhere, and the gradient of its sum by w.

    op: "sqrt", "log", "reciprocal", "rsqrt", "acos", "asin" or "power" (x ** 0.3).
    w: (D,) float32. features: (N, D) float32.
    valid: (N,) bool; f is defined with a finite slope where it is True. Elsewhere it need not be.

    Returns (value, gradient): (N,) and (D,), float32. Rows that are not valid have no part in the gradient.
    Example: "sqrt" with w [1.], features [[4.], [-1.]] and valid [True, False] has the value [2., 0.] and the
    gradient [1.].
    """
    f = (lambda x: x**0.3) if op == "power" else getattr(torch, op)
    w = w.detach().requires_grad_()
    x = features @ w
    ### BEGIN SOLUTION
    safe = torch.where(valid, x, 0.5)  # any number in the domain of the operation
    value = torch.where(valid, f(safe), 0.0)
    ### END SOLUTION
    value.sum().backward()
    return value.detach(), w.grad


# %% nbgrader={"grade_id": "check-2-14", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("2.14", masked_op)
### BEGIN HIDDEN TESTS
check("2.14", masked_op, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# The row that poisoned both weights above, in your version:

# %% tags=["uses-answer"]
try:
    value, gradient = masked_op("sqrt", w, features, torch.tensor([True, True, False]))
    print("value", [f"{v:.4f}" for v in value.tolist()], " gradient", [f"{g:.4f}" for g in gradient.tolist()])
except NotImplementedError:
    print("This cell uses your masked_op: solve exercise 2.14, then run it again.")

# %% [markdown]
# ## 2.15 A rate that is too high, exactly
#
# **Claim.** For $L(w) = a w^2 / 2$ gradient descent multiplies $w$ by $1 - \eta a$ at each step. It converges to the
# minimum only for $0 < \eta a < 2$. That bounds this quadratic, and no neural network.
#
# **Control.** SGD itself, on both sides of each edge and on it.


# %% tags=["claim-2.15"]
def descend(a, eta, steps=30):
    """w_0 = 1, w_1, ..., by torch's SGD on a * w**2 / 2."""
    w = nn.Parameter(torch.tensor(1.0, dtype=torch.float64))
    optimizer = torch.optim.SGD([w], lr=eta)
    path = [w.item()]
    for _ in range(steps):
        optimizer.zero_grad()
        (a * w**2 / 2).backward()
        optimizer.step()
        path.append(w.item())
    return path


for product in (0.5, 1.0, 1.8, 2.0, 2.2):
    path = descend(2.0, product / 2)
    print(
        f"eta * a = {product:.1f}:  w = {path[1]:+.2f}, {path[2]:+.2f}, {path[3]:+.2f}, ...,  |w_30| = {abs(path[30]):.3g}"
    )
    assert all(math.isclose(w, (1 - product) ** n, rel_tol=1e-9, abs_tol=1e-12) for n, w in enumerate(path))
assert abs(descend(2.0, 0.9)[30]) < 0.01 < 100 < abs(descend(2.0, 1.1)[30])
assert descend(2.0, 1.0) == [(-1.0) ** n for n in range(31)]  # on the edge: neither
assert descend(-2.0, 0.1)[30] > 100  # a product below 0: away from a maximum


# %% tags=["claim-2.15"]
def plot_descent(a=2.0, eta=0.9):
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.2))
    path = descend(a, eta, 20)
    left.plot(path, "-o", ms=4, color="tab:blue")
    left.axhline(0, color="k", lw=0.8)
    left.set(xlabel="step", ylabel="w", title=f"a = {a:g}, eta = {eta:g}: eta a = {a * eta:.3g}")
    if max(map(abs, path)) > 3:
        left.set_yscale("symlog", linthresh=1)
    products = [i / 20 for i in range(-8, 57)]
    ends = [
        max(abs(descend(1.0, 1.0 * p, 20)[-1]) if p >= 0 else abs(descend(-1.0, -p, 20)[-1]), 1e-6)
        for p in products
    ]
    right.semilogy(products, ends, "-", color="k")
    for low, high, hatch, label in (
        (-0.4, 0, "xx", "away"),
        (0, 2, "", "to the minimum"),
        (2, 2.8, "xx", "away"),
    ):
        right.axvspan(low, high, hatch=hatch, fc="none", ec="0.7")
        right.text((low + high) / 2, 3e4, label, ha="center", fontsize=8, backgroundcolor="white")
    right.plot([a * eta], [max(abs(path[-1]), 1e-6)], "*", ms=13, color="tab:red")
    right.set(xlabel="eta a", ylabel="|w| after 20 steps", xlim=(-0.4, 2.8), ylim=(5e-7, 1e6))
    fig.tight_layout()
    plt.show()
    return dict(zip(products, ends))


ends = plot_descent()
assert all((end < 1) == (0 < p < 2) for p, end in ends.items() if p not in (0, 2))
assert ends[0.0] == ends[2.0] == 1.0  # on both edges |w| stays what it was

# %% [markdown]
# *Left: the path of w, with a dot at each step. Right: size of w after 20 steps over the product eta · a, cut off
# at 10⁻⁶; plain between 0 and 2, crosshatched outside; the star is the path on the left.*

# %% tags=["widget", "nbval-skip"]
explore(plot_descent, {"a": "curvature a", "eta": "rate eta"}, a=(0.1, 4, 0.1), eta=(0, 1.4, 0.05))

# %% [markdown]
# {{exercise 2.15}}
#
# Predict what `w` does, for ever, from the curvature and the rate alone. Edges and their neighborhoods are among
# the cases.


# %% nbgrader={"grade_id": "quadratic", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def fate(a: float, eta: float) -> str:
    """What gradient descent with rate eta does on L(w) = a w**2 / 2, from any w other than 0.

    a: curvature, any finite float, also 0 or below. eta: learning rate, 0 or above.

    Returns
        "converge"   w tends to 0, or reaches it; with or without changing its sign on the way
        "oscillate"  w changes its sign at each step and keeps its size
        "diverge"    the size of w grows without bound
        "stay"       w never changes

    Example: fate(2.0, 0.9) is "converge".
    """
    ### BEGIN SOLUTION
    factor = 1 - eta * a
    if factor == 1:
        return "stay"
    if factor == -1:
        return "oscillate"
    return "converge" if abs(factor) < 1 else "diverge"
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-2-15", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("2.15", fate)
### BEGIN HIDDEN TESTS
check("2.15", fate, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 2.16 What a lower rate can't repair
#
# **Claim.** If the loss is invalid before any optimizer step, no learning rate repairs it: the rate has not been
# used yet. A rate of 0 does not even protect the weights, because 0 · nan is nan.
#
# **Control.** A run whose first loss and gradients are finite and whose weights grow from step to step *is* cured
# by a lower rate.


# %% tags=["claim-2.16"]
def losses(lr, broken, steps=30):
    """Losses of a linear fit, and whether the weights are finite at its end."""
    torch.manual_seed(2)
    x, y = torch.randn(16, 3), torch.randn(16, 1)
    if broken:
        y[3] = NAN
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    record = []
    for _ in range(steps):
        loss = F.mse_loss(model(x), y)
        record.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return record, bool(torch.isfinite(model.weight).all())


for lr in (1.0, 1e-3, 1e-9, 0.0):
    record, weights_finite = losses(lr, broken=True)
    print(
        f"NaN in a target, rate {lr:g}: loss at step 0 {record[0]}, weights finite at the end: {weights_finite}"
    )
    assert all(map(math.isnan, record)) and not weights_finite
too_high, lower = losses(3.0, broken=False)[0], losses(0.1, broken=False)[0]
print(
    f"healthy data, rate 3: grows is {too_high[29] > 1e6 * too_high[0]}; rate 0.1: falls is {lower[29] < lower[0]}"
)
assert math.isfinite(too_high[0]) and too_high[0] == lower[0]  # the same step zero: finite, whatever the rate
assert too_high[29] > 1e6 * too_high[0] and lower[29] < lower[0]

# %% [markdown]
# **Claim.** Clipping by the norm is no cure either. One NaN makes the norm NaN and with it *every* gradient; one
# inf makes the norm infinite, so that every other gradient becomes 0 and the inf itself NaN.
#
# **Control.** A gradient that is large and finite is what clipping is for. `error_if_nonfinite=True` turns the
# silence into an error.


# %% tags=["claim-2.16"]
def clipped(first, **options):
    """Gradients of two parameters after clipping their common norm to 1."""
    p, q = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1))
    p.grad, q.grad = torch.tensor([first, 3.0]), torch.tensor([4.0])
    nn.utils.clip_grad_norm_([p, q], 1.0, **options)
    return p.grad.tolist() + q.grad.tolist()


for first in (NAN, INF, 1e6):
    print(f"gradients ({first:g}, 3, 4) become ({', '.join(f'{g:.2g}' for g in clipped(first))})")
assert all(map(math.isnan, clipped(NAN)))
assert math.isnan(clipped(INF)[0]) and clipped(INF)[1:] == [0.0, 0.0]
assert math.isclose(math.hypot(*clipped(1e6)), 1.0, rel_tol=1e-4)
try:
    clipped(NAN, error_if_nonfinite=True)
    refused = False
except RuntimeError:
    refused = True
assert refused

# %% [markdown]
# ## What to take along
#
# - Find the **first** boundary that is not finite; all later ones are consequences.
# - Check the batch's contract before the first step: most violations are silent.
# - Anomaly mode names a line, for NaN made in backward. It is no substitute for finite checks.
# - Repair the operation: an epsilon, a mask on the output, a lower rate and clipping each treat a symptom.
# - A failure that repeats itself is good news: you can study it.
