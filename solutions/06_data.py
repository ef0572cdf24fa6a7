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
# # 06 · Data
#
# The loss sees tensors. It does not see that a six became a nine, that a target belongs to the neighbor, or that a
# person stands on both sides of the split. This notebook looks at what is fed in: example by example, before and
# after each transform, by an id that does not change.
#
# Two beliefs meet a measurement on the way:
#
# - *An augmentation that keeps the shape keeps the label.* (6.2)
# - *A beautiful curve is a good sign.* (6.5)
#
# After it you can trace examples through a pipeline, tell which augmentations a label survives, read a text batch
# beside its targets, check a table, and write an audit in which every rule has been seen to fail.

# %% tags=["setup"] nbgrader={"grade_id": "setup-06", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import math
from collections import Counter

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, explore, hint, solution

# %matplotlib inline
torch.set_num_threads(1)
torch.manual_seed(6)
plt.rcParams.update({"figure.figsize": (6.4, 3.2), "figure.dpi": 90})

# %% [markdown]
# ## 6.1 An example keeps its id
#
# **Claim.** After a shuffle, a filter or an oversampler, position says nothing; only an id that travels with the
# example tells which target belongs to which input. Shapes, dtypes, counts and class frequencies are all unchanged
# by the worst mistake of them all, which is to move inputs and targets separately.
#
# Eight examples; an id for each input and an id for each target, so that the pairing can be read off.


# %%
def load(fault, n=8):
    """Ids of the inputs and ids of the targets of a batch, as a data loader with this fault hands them out."""
    g = torch.Generator().manual_seed(11)
    ids = torch.arange(n)
    order = torch.randperm(n, generator=g)
    if fault == "shuffled together":
        return ids[order], ids[order]
    if fault == "shuffled separately":
        return ids[order], ids[torch.randperm(n, generator=g)]
    if fault == "one input dropped":  # a broken file is skipped, its target is not
        return torch.cat([ids[:3], ids[4:]]), ids[: n - 1]
    if fault == "targets one late":
        return ids, ids.roll(1)
    raise ValueError(fault)


FAULTS = ("shuffled together", "shuffled separately", "one input dropped", "targets one late")
label_of = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])  # the label of each id, as the archive has it

# %% tags=["claim-6.1"]
for fault in FAULTS:
    inputs, targets = load(fault)
    print(f"{fault:20} equal lengths: {len(inputs) == len(targets)}, pairs right: {int((inputs == targets).sum())} of {len(inputs)}")

inputs, targets = load("shuffled separately")
assert Counter(label_of[targets].tolist()) == Counter(label_of[load("shuffled together")[1]].tolist())  # same classes
assert len(inputs) == len(targets) and (inputs == targets).sum() < len(inputs) / 2  # and still mostly wrong
# control: where inputs and targets move by one and the same order, every pair is right, whatever the order
inputs, targets = load("shuffled together")
assert torch.equal(inputs, targets) and not torch.equal(inputs, torch.arange(8))


# %%
def plot_pairing(fault="shuffled separately"):
    """Which input (row) was handed out with which target (column), for one fault and for none."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.3), sharey=True)
    for ax, name in zip(axes, ("shuffled together", fault)):
        inputs, targets = load(name)
        right = inputs == targets
        ax.plot([-0.5, 7.5], [-0.5, 7.5], linestyle=":", color="0.5", linewidth=1)
        ax.scatter(targets[right], inputs[right], marker="o", s=60, facecolor="white", edgecolor="black", label="right pair")
        ax.scatter(targets[~right], inputs[~right], marker="x", s=60, color="black", label="wrong pair")
        ax.set(title=f"{name}: {int(right.sum())} of {len(right)} right", xlabel="id of the target", aspect="equal",
               xticks=range(8), yticks=range(8), xlim=(-0.6, 7.6), ylim=(7.6, -0.6))
        ax.title.set_fontsize(9)
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("id of the input")
    axes[1].legend(fontsize=7, loc="lower left", framealpha=1)
    fig.tight_layout()
    plt.show()


plot_pairing()

# %% [markdown]
# *A batch as a matrix: a mark in row i and column j says that input i came with target j. Circles lie on the dotted
# diagonal, crosses beside it. Left, order is gone and every pair is right; right, the same batch with a fault.*

# %% tags=["widget", "nbval-skip"]
explore(plot_pairing, fault=list(FAULTS[1:]))

# %% [markdown]
# **Look at one example at a time.** Below, a pipeline of three transforms runs on named examples, and one of them is
# printed before and after each. The middle transform does something that no shape shows: it changes a target.
# Control: the same print for an example which that transform leaves alone shows no change of target.

# %% tags=["claim-6.1"]
def scale(rows):
    return [{**row, "x": [value / 255 for value in row["x"]]} for row in rows]


def mirror_some(rows):  # every other example; mirrored arrows are relabeled, as they should be
    return [
        {**row, "x": row["x"][::-1], "target": {"left": "right", "right": "left"}[row["target"]]} if k % 2 else row
        for k, row in enumerate(rows)
    ]


def drop_dark(rows):
    return [row for row in rows if max(row["x"]) > 0.2]


raw = [
    {"id": "a17", "x": [255, 51, 0], "target": "left"},
    {"id": "a18", "x": [0, 51, 255], "target": "right"},
    {"id": "a19", "x": [0, 0, 51], "target": "right"},
]


def history(example):
    """One line a stage: what became of an example of this id."""
    rows, lines = raw, []
    for transform in (None, scale, mirror_some, drop_dark):
        rows = transform(rows) if transform else rows
        found = [row for row in rows if row["id"] == example]
        lines.append([(row["x"], row["target"]) for row in found])
        name = transform.__name__ if transform else "raw"
        print(f"  {name:12}", *(f"x {row['x']}, target {row['target']}" for row in found) if found else ["not there"])
    return lines


for example in ("a18", "a17", "a19"):
    print(example)
    seen = history(example)
    if example == "a18":
        assert seen[1][0][1] == "right" and seen[2][0][1] == "left"  # mirrored, and relabeled
    elif example == "a17":
        assert {stage[0][1] for stage in seen} == {"left"}  # control
    else:
        assert seen[2] and not seen[3]  # dropped by the last transform

# %% [markdown]
# {{exercise 6.1}}
#
# Compare each stage of a pipeline with the one before it and tell, by ids, what the transform between them did.


# %% nbgrader={"grade_id": "trace-ids", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def trace_ids(stages: list[dict]) -> list[dict]:
    """What each transform did, told by ids.

    stages: dicts {"name": str, "ids": list of str, "targets": list of int}, ids and targets of equal length. The
        first stage is raw, with every id once; each other one is what a transform gave out. All copies of an id
        within a stage have the same target. A stage may be empty.

    Returns one dict for each stage but the first. "Before" is always the stage just before it:
        "dropped": ids that were there before and are gone;
        "added": ids that were not there before;
        "duplicated": ids that were there before and occur more often now;
        "reordered": True if the ids found in both stages, each taken where it first appears, stand in another order;
        "retargeted": ids found in both stages whose target is another one now.
    The lists are lists of str, each id once, in any order.

    Example: ids a, b, c, then c, a, a: b is dropped, a is duplicated, reordered is True (a, c against c, a).
    """
    ### BEGIN SOLUTION
    def compare(before, after):
        count_before, count_after = Counter(before["ids"]), Counter(after["ids"])
        target_before = dict(zip(before["ids"], before["targets"]))
        target_after = dict(zip(after["ids"], after["targets"]))
        kept = [i for i in target_before if i in target_after]  # a dict keeps the order of first appearance
        return {
            "dropped": [i for i in count_before if i not in count_after],
            "added": [i for i in count_after if i not in count_before],
            "duplicated": [i for i in kept if count_after[i] > count_before[i]],
            "reordered": kept != [i for i in target_after if i in target_before],
            "retargeted": [i for i in kept if target_before[i] != target_after[i]],
        }

    return [compare(before, after) for before, after in zip(stages, stages[1:])]
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-6-1", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("6.1", trace_ids)
### BEGIN HIDDEN TESTS
check("6.1", trace_ids, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 6.2 Images: does the label survive?
#
# **Claim.** Whether an augmentation preserves the label is a property of the *task*, not of the transform. Turned by
# half a circle a six is a nine, and mirrored an arrow to the right is an arrow to the left. Shape, range and mean
# brightness say nothing: they are the same before and after.


# %%
def glyph(*lines):
    return torch.tensor([[float(mark == "#") for mark in line] for line in lines])


GLYPHS = {
    "6": glyph("..##.", ".#...", "#....", "####.", "#...#", "#...#", ".###."),
    "9": glyph(".###.", "#...#", "#...#", ".####", "....#", "...#.", ".##.."),
    "8": glyph(".###.", "#...#", "#...#", ".###.", "#...#", "#...#", ".###."),
    "right": glyph("...#.", "....#", "#####", "....#", "...#."),
    "left": glyph(".#...", "#....", "#####", "#....", ".#..."),
    "up": glyph("..#..", ".###.", "#.#.#", "..#..", "..#.."),
}
TRANSFORMS = {
    "mirror": lambda image: image.flip(1),
    "half turn": lambda image: image.rot90(2),
    "upside down": lambda image: image.flip(0),
}


def reads_as(image):
    """The label whose glyph this image is, or 'nothing'."""
    return next((name for name, shape in GLYPHS.items() if torch.equal(image, shape)), "nothing")


# %% tags=["claim-6.2"]
print(f"{'':8}", *(f"{name:>12}" for name in TRANSFORMS))
for label, image in GLYPHS.items():
    print(f"{label:8}", *(f"{reads_as(transform(image)):>12}" for transform in TRANSFORMS.values()))

for label, name, becomes in (("6", "half turn", "9"), ("right", "mirror", "left"), ("left", "mirror", "right")):
    before = GLYPHS[label]
    after = TRANSFORMS[name](before)
    assert reads_as(after) == becomes
    assert after.shape == before.shape and after.mean() == before.mean()  # what a summary sees is unchanged
# control: the same two transforms leave other labels alone
assert reads_as(TRANSFORMS["half turn"](GLYPHS["8"])) == "8" and reads_as(TRANSFORMS["mirror"](GLYPHS["up"])) == "up"


# %%
def plot_transform(name="half turn"):
    """Six glyphs above, the same six after the transform below, with what they now read as."""
    fig, axes = plt.subplots(2, 6, figsize=(6.4, 3.0))
    for column, (label, image) in zip(axes.T, GLYPHS.items()):
        after = TRANSFORMS[name](image)
        for ax, pixels in zip(column, (image, after)):
            ax.imshow(pixels, cmap="gray_r", vmin=0, vmax=1.3)
            ax.set(xticks=[], yticks=[])
        reads = reads_as(after)
        column[0].set_title(f"label {label}", fontsize=8)
        verdict = "kept" if reads == label else "no glyph" if reads == "nothing" else f"reads {reads}!"
        column[1].set_xlabel(verdict, fontsize=8)
        if verdict.endswith("!"):  # a heavy dashed frame besides the words
            for side in column[1].spines.values():
                side.set(linewidth=2.5, linestyle="--")
    axes[0, 0].set_ylabel("before")
    axes[1, 0].set_ylabel(f"after\n{name}", fontsize=8)
    fig.tight_layout()
    plt.show()


plot_transform()

# %% [markdown]
# *Above: as stored. Below: after the transform, with what the image now shows. A heavy dashed frame marks an image
# that shows another label than the one it still carries.*

# %% tags=["widget", "nbval-skip"]
explore(plot_transform, {"name": "transform"}, name=list(TRANSFORMS))

# %% [markdown]
# **Channels and range** fail as silently. `reshape` gives the shape that a channels-first model asks for and mixes
# the pixels; only `permute` moves the axis. And 8-bit arithmetic wraps: darkening 10 by 20 gives a bright 246. Each
# comes with its control: `permute` keeps every pixel's color, and floats go below zero instead of around.

# %% tags=["claim-6.2"]
picture = torch.zeros(4, 6, 3, dtype=torch.uint8)  # rows, columns, channels
picture[..., 0] = 200  # all red
moved, mixed = picture.permute(2, 0, 1), picture.reshape(3, 4, 6)
print("shapes alike:", moved.shape == mixed.shape)
print("red channel all 200: permute", bool((moved[0] == 200).all()), " reshape", bool((mixed[0] == 200).all()))
assert moved.shape == mixed.shape and (moved[0] == 200).all() and (moved[1:] == 0).all()
assert not (mixed[0] == 200).all() and (mixed[1:] != 0).any()

dark = torch.tensor([10, 100], dtype=torch.uint8)
print("minus 20 in uint8:", (dark - 20).tolist(), " in float:", (dark.float() - 20).clamp(min=0).tolist())
assert (dark - 20).tolist() == [246, 80] and (dark.float() - 20).clamp(min=0).tolist() == [0.0, 80.0]

# %% [markdown]
# ## 6.3 Text: decode what is fed in
#
# **Claim.** Ids look alike whether they are right or wrong. Decoded beside the target and the mask, three mistakes
# are plain: targets that are not shifted, an end mark that is never scored, and padding that is.

# %% tags=["claim-6.3"]
WORDS = ["<pad>", "<bos>", "<eos>", "the", "loss", "fell", "again"]
PAD, BOS, EOS = 0, 1, 2


def encode(sentence, length):
    ids = [BOS, *(WORDS.index(word) for word in sentence.split()), EOS]
    return ids + [PAD] * (length - len(ids))


batch = torch.tensor([encode("the loss fell again", 7), encode("loss fell", 7)])
inputs, targets = batch[:, :-1], batch[:, 1:]
mask = targets != PAD


def show(inputs, targets, mask):
    for i, t, m in zip(inputs.tolist(), targets.tolist(), mask.tolist()):
        print(f"  {WORDS[i]:>6} -> {WORDS[t]:6} {'scored' if m else '-'}")


print("second sentence, input -> target")
show(inputs[1], targets[1], mask[1])
assert [WORDS[t] for t in targets[1][mask[1]]] == ["loss", "fell", "<eos>"]  # starts after BOS, ends with EOS
assert int(mask.sum()) == 5 + 3  # each sentence's words and its end, no padding

# %% [markdown]
# Each rule now fails once, on a batch broken on purpose; the batch above is the control for all three. The first
# mistake is worth a second look, because training *loves* it: with unshifted targets, a model that copies its input
# has a loss of zero, and it has learned to say what it was just told.

# %% tags=["claim-6.3"]
rules = {
    "targets are the inputs moved by one": lambda i, t, m: torch.equal(i[:, 1:], t[:, :-1]),
    "each row's end mark is scored": lambda i, t, m: bool(((t == EOS) & m).sum(1).eq(1).all()),
    "no padding is scored": lambda i, t, m: not bool((m & (t == PAD)).any()),
}
broken = {
    "unshifted": (inputs, inputs, inputs != PAD),
    "end mark masked": (inputs, targets, mask & (targets != EOS)),
    "padding scored": (inputs, targets, torch.ones_like(mask)),
}
for name, parts in broken.items():
    fired = [rule for rule, holds in rules.items() if not holds(*parts)]
    print(f"{name:16} breaks: {'; '.join(fired)}")
assert all(holds(inputs, targets, mask) for holds in rules.values())  # control
assert not rules["targets are the inputs moved by one"](*broken["unshifted"])
assert not rules["each row's end mark is scored"](*broken["end mark masked"])
assert not rules["no padding is scored"](*broken["padding scored"])

copying = 50.0 * F.one_hot(inputs, len(WORDS)).float()  # a model that repeats its input
unshifted_loss = F.cross_entropy(copying[mask], inputs[mask]).item()
shifted_loss = F.cross_entropy(copying[mask], targets[mask]).item()
print(f"a copying model: loss {unshifted_loss:.1f} on unshifted targets, {shifted_loss:.0f} on shifted ones")
assert unshifted_loss < 1e-6 and shifted_loss > 40

# %% [markdown]
# ## 6.4 Tables: four ways to be wrong in a column
#
# **Claim.** A missing value written as a number, two units in one column, category codes fitted twice, and a scaler
# fitted on all rows each pass every check of shape and dtype. Each has one cheap rule that finds it.
#
# The table: heights in cm and a city, for training and for validation. Four broken copies, four rules, and the
# clean table as the control: each copy must fail its own rule and no other.

# %% tags=["claim-6.4"]
g = torch.Generator().manual_seed(64)
CITIES = ["Bergen", "Lima", "Osaka"]


def clean_table():
    heights = 170 + 8 * torch.randn(200, generator=g)
    heights[::25] = math.nan  # missing, and said to be
    city = torch.randint(0, 3, (200,), generator=g)
    train = torch.arange(200) < 140
    heights[~train] += 6  # validation comes from elsewhere
    codes = {"train": dict(zip(CITIES, range(3))), "val": dict(zip(CITIES, range(3)))}
    known = heights[train & ~heights.isnan()]
    return {"height": heights, "city": city, "train": train, "codes": codes, "mean": known.mean(), "std": known.std()}


def missing_as_number(table):
    table["height"] = table["height"].nan_to_num(nan=-1.0)


def two_units(table):
    table["height"][5:15] /= 100  # ten people in meters


def codes_fitted_twice(table):
    table["codes"]["val"] = dict(zip(["Lima", "Osaka"], range(2)))  # no one from Bergen was in validation


def scaled_by_all(table):
    known = table["height"][~table["height"].isnan()]
    table["mean"], table["std"] = known.mean(), known.std()


def train_rows_mean(table):
    known = table["height"][table["train"]]
    return known[~known.isnan()].mean()


TABLE_RULES = {
    "no impossible value": lambda t: bool((t["height"][~t["height"].isnan()] > 0).all()),
    "one unit": lambda t: bool(((t["height"] > 0) & (t["height"] < 50)).sum() == 0),
    "one code for each city": lambda t: all(t["codes"]["train"][c] == k for c, k in t["codes"]["val"].items()),
    "scaled by the training rows": lambda t: bool((t["mean"] - train_rows_mean(t)).abs() < 0.5),
}
BREAKS = (missing_as_number, two_units, codes_fitted_twice, scaled_by_all)

for rule, holds in TABLE_RULES.items():
    assert holds(clean_table()), rule  # control
print("clean table: no rule fires")
for break_it, own_rule in zip(BREAKS, TABLE_RULES):
    table = clean_table()
    break_it(table)
    if break_it in (missing_as_number, two_units):  # whoever fits on this column fits on the fault as well
        table["mean"] = train_rows_mean(table)
    fired = [rule for rule, holds in TABLE_RULES.items() if not holds(table)]
    print(f"{break_it.__name__:20} fires: {', '.join(fired)}")
    assert fired == [own_rule]

# %% [markdown]
# ## 6.5 A beautiful curve
#
# **Claim.** Related samples on both sides of the split make a validation curve that falls smoothly and means
# nothing. The data: people with ten measurements each, and a label that was tossed for each person, so that nothing
# can be learned about a person who has not been seen.


# %%
def population(count, rows_each, seed, shared):
    """Rows, labels and person numbers; with `shared` labels the label follows a direction common to all people."""
    g = torch.Generator().manual_seed(seed)
    signature = torch.randn(count, 12, generator=g)
    tossed = torch.randint(0, 2, (count,), generator=g)
    label = (signature[:, :3].sum(1) > 0).long() if shared else tossed
    if shared:
        signature[:, :3] += (2.0 * label - 1)[:, None]
    person = torch.arange(count).repeat_interleave(rows_each)
    return signature[person] + 0.3 * torch.randn(len(person), 12, generator=g), label[person], person


def curves(rows_each=10, shared=False, steps=80):
    """Validation loss at each step under a row split and under a person split, each with a model of its own."""
    x, y, person = population(48, rows_each, seed=1, shared=shared)
    shuffled = torch.randperm(len(x), generator=torch.Generator().manual_seed(2))
    by_row = torch.zeros(len(x), dtype=torch.bool)
    by_row[shuffled[: len(x) // 4]] = True
    result = []
    for held_out in (by_row, person < 12):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 2))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        losses = []
        for _ in range(steps):
            with torch.no_grad():
                losses.append(F.cross_entropy(model(x[held_out]), y[held_out]).item())
            optimizer.zero_grad()
            F.cross_entropy(model(x[~held_out]), y[~held_out]).backward()
            optimizer.step()
        result.append(losses)
    return result


# %% tags=["claim-6.5"]
by_row, by_person = curves()
falling = sum(b < a for a, b in zip(by_row, by_row[1:])) / (len(by_row) - 1)
print(f"rows shuffled: ends below 0.1: {by_row[-1] < 0.1}, falls at more than 95% of the steps: {falling > 0.95}")
print(f"people held out: ends above a coin flip: {by_person[-1] > math.log(2)}")
assert by_row[-1] < 0.1 and falling > 0.95 and by_person[-1] > math.log(2)

# control: where the label follows something that people share, the person split's curve falls as well
by_row, by_person = curves(shared=True)
print(f"a label that can be learned, people held out: ends below 0.35: {by_person[-1] < 0.35}")
assert by_row[-1] < 0.1 and by_person[-1] < 0.35


# %%
def plot_curves(rows_each=10, shared=False):
    """The two validation curves of one data set."""
    by_row, by_person = curves(rows_each, shared)
    fig, ax = plt.subplots()
    ax.plot(by_row, linestyle="--", marker="o", markevery=10, label="validation, rows shuffled")
    ax.plot(by_person, linestyle="-", marker="s", markevery=10, label="validation, people held out")
    ax.axhline(math.log(2), linestyle=":", color="black", linewidth=1)
    ax.text(64, math.log(2) + 0.06, "coin flip", fontsize=8)
    ax.set(xlabel="step", ylabel="cross entropy", ylim=(0, max(1.6, max(by_person) * 1.05)),
           title=f"{rows_each} rows for each person, label {'learnable' if shared else 'tossed'}")
    ax.legend(fontsize=8)
    ax.grid(alpha=0.3)
    fig.tight_layout()
    plt.show()


plot_curves()

# %% [markdown]
# *Dashed with circles: the curve one would like to show. Solid with squares: the same rows, model and steps, with
# whole people held out. Nothing about the dashed curve gives it away; only the split does. With one row for each
# person (the widget) the two tell the same story.*

# %% tags=["widget", "nbval-skip"]
explore(plot_curves, {"rows_each": "rows a person", "shared": "label learnable"}, rows_each=(1, 20, 1), shared=bool)

# %% [markdown]
# ## 6.6 A rule that has never failed has not been tested
#
# **Claim.** An audit is repeatable only when each of its rules has one negative example: a batch, kept beside the
# code, on which that rule and no other fires. Without it nobody notices a rule that can't fire at all.
#
# Below are two rules for ids that mean the same and look equally right. The healthy batch tells nothing about them;
# one batch with a repeated id does.

# %% tags=["claim-6.6"]
def unique_a(ids):
    return len(set(ids)) == len(ids)


def unique_b(ids):
    return all(ids.count(i) for i in ids)  # meant: counts of one


healthy, repeated = ["a1", "a2", "a3"], ["a1", "a2", "a1"]
print("healthy batch:", unique_a(healthy), unique_b(healthy))
print("repeated id:  ", unique_a(repeated), unique_b(repeated))
assert unique_a(healthy) and unique_b(healthy)  # a green light from both
assert not unique_a(repeated) and unique_b(repeated)  # only one of them is a rule

# %% [markdown]
# {{exercise 6.6}}
#
# Write the audit of a batch: five faults by name, alone or together, and silence on a healthy batch. A false alarm
# costs as much as a miss.


# %% nbgrader={"grade_id": "audit", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def audit(batch: dict, spec: dict, reference: dict[str, list[int]]) -> list[str]:
    """Names of the faults in a batch, each once, in any order; an empty list for a healthy one.

    batch: {"ids": list of N str, "x": float32 tensor, "targets": (N, 4) int64 tensor}: four targets an example.
    spec: {"shape": shape of one example, such as (3, 4, 6), "classes": number of classes, "ignore_index": int}.
        A target equal to ignore_index is masked: left out on purpose, and no fault by itself.
    reference: the four true targets of each id, always classes; it holds more ids than the batch.

    The names, and when each is due:
        "misaligned label": a target that is a class (0 .. classes - 1) is not the reference's target of that id
            at that place;
        "nan": x holds a NaN (large values are no fault);
        "class out of range": a target is neither masked nor a class;
        "all targets masked": an example has no target left, all four are masked;
        "wrong shape": the shape of x is not (N, *spec["shape"]).

    Example: x of shape (6, 4, 6, 3), and otherwise healthy, gives ["wrong shape"].
    """
    ### BEGIN SOLUTION
    x, targets = batch["x"], batch["targets"]
    wanted = torch.tensor([reference[i] for i in batch["ids"]])
    masked = targets == spec["ignore_index"]
    is_class = (targets >= 0) & (targets < spec["classes"])
    rules = {
        "misaligned label": (is_class & (targets != wanted)).any(),
        "nan": x.isnan().any(),
        "class out of range": (~masked & ~is_class).any(),
        "all targets masked": masked.all(dim=1).any(),
        "wrong shape": tuple(x.shape) != (len(batch["ids"]), *spec["shape"]),
    }
    return [name for name, fires in rules.items() if fires]
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-6-6", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("6.6", audit)
### BEGIN HIDDEN TESTS
check("6.6", audit, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 6.7 What looking can't do
#
# Printing a few batches proves nothing complete. It can refute a belief about the data at almost no cost, which is
# reason enough to do it first; that the belief holds for the rows you did not print is another matter, and only a
# rule that runs over all of them says so.
#
# And a failing example is still somebody's data. Report a bug with an example that you made up and that fails in the
# same way, with shapes and dtypes, or with a count. Do not upload a private image, record or text to a tracker
# because it happens to make the bug easy to show.
#
# ## What to take along
#
# | Look at | by | a fault that nothing else shows |
# |---|---|---|
# | pairs | ids that travel with the example | inputs and targets shuffled separately |
# | images | before and after, with the label | a six turned into a nine |
# | text | words, targets and mask side by side | targets that were not shifted |
# | tables | one rule for each column | two units, a missing value as a number |
# | splits | groups on both sides | a curve that falls because people are recognized |
# | the audit itself | one negative example for each rule | a rule that can't fire |
