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
# # 08 · Tool belt on the CPU
#
# Each tool answers one question. Ask it another one, and it still answers, only wrongly.
#
# | Question | Tool | Here |
# |---|---|---|
# | Where does the time go? | `torch.profiler` | 8.8, 8.9 |
# | What keeps memory alive? | `weakref`, `grad_fn`, optimizer state | 8.2, 8.3 |
# | What did the compiler do? | `TORCH_LOGS`, `torch._dynamo.explain`, `torch.export` | 8.4 to 8.7 |
# | Which rank went astray? | `TORCH_DISTRIBUTED_DEBUG`, flight recorder | 8.11 |
#
# Everything runs on one CPU core. What needs a GPU is in the notebook *08-gpu*.

# %% tags=["setup"] nbgrader={"grade_id": "setup-08", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import os

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or the profiler writes two USDT lines at each start and stop
os.environ.pop("TORCH_LOGS", None)  # section 5 says why

import contextlib
import copy
import gc
import io
import json
import logging
import shutil
import subprocess
import sys
import tempfile
import time
import weakref
from collections import Counter
from pathlib import Path

# %matplotlib inline
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, explore, hint, solution

torch.set_num_threads(1)
torch.manual_seed(8)
plt.rcParams["figure.dpi"] = 90

# %% [markdown]
# ## 1 · A profile that can be read by a program
#
# **Claim 8.8.** A scheduled CPU profile exports a Chrome trace, and the trace names the operators.
#
# `schedule(wait=1, warmup=1, active=3)` skips one step, warms up during another, and records three.
# Into the training loop we plant two things to find: a batch that is slow to arrive, and one layer
# that is far wider than the others.

# %%
from torch.profiler import ProfilerActivity, profile, record_function, schedule

WAIT_S = 0.02  # planted: the loader sleeps this long at each step

net = nn.Sequential(nn.Linear(32, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
inputs, targets = torch.randn(64, 32), torch.randint(0, 4, (64,))


def train_step():
    with record_function("load_batch"):
        time.sleep(WAIT_S)
    with record_function("forward"):
        loss = F.cross_entropy(net(inputs), targets)
    optimizer.zero_grad()
    with record_function("backward"):
        loss.backward()
    optimizer.step()


def record_trace(steps=5):
    """Profile some steps by schedule; read the exported Chrome trace back as plain data."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=1, warmup=1, active=3, repeat=1),
            on_trace_ready=lambda p: p.export_chrome_trace(str(path)),
        ) as profiler:
            for _ in range(steps):
                train_step()
                profiler.step()  # without this call, the schedule never moves on
        return json.loads(path.read_text()), profiler


trace, profiler = record_trace()

# %% tags=["claim-8.8"]
events = trace["traceEvents"]
operators = {e["name"] for e in events if e.get("cat") == "cpu_op"}
steps = sorted(e["name"] for e in events if e["name"].startswith("ProfilerStep#"))

print("keys of an operator's event:", sorted(next(e for e in events if e.get("cat") == "cpu_op")))
print("recorded steps:", steps)
print("aten::linear and aten::addmm in the trace:", {"aten::linear", "aten::addmm"} <= operators)
print("aten::conv2d, which never ran, in the trace:", "aten::conv2d" in operators)  # the control

assert {"aten::linear", "aten::addmm"} <= operators
assert steps == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]  # waiting and warm-up left no trace
assert "aten::conv2d" not in operators

# %% [markdown]
# Times in a trace are microseconds: `ts` is the start, `dur` the length. An operator that calls others
# is a long event with short ones inside, on the same `pid` and `tid`. Drawn as lanes, nesting is depth.

# %% tags=["nbval-ignore-output"]
KINDS = {"annotation": dict(facecolor="white", hatch="///"), "operator": dict(facecolor="0.75", hatch="")}


def lanes_of(step):
    """Spans of one step as (lane, kind, name, start in ms, length in ms)."""
    around = next(e for e in events if e["name"] == f"ProfilerStep#{step}")
    mine = [e for e in events if e.get("ph") == "X" and e.get("tid") == around["tid"]]
    inside = [e for e in mine if around["ts"] < e["ts"] < around["ts"] + around["dur"]]
    spans, open_ends = [], []
    for e in sorted(inside, key=lambda e: (e["ts"], -e["dur"])):
        start, length = (e["ts"] - around["ts"]) / 1e3, e["dur"] / 1e3
        if e["cat"] == "user_annotation":
            spans.append((0, "annotation", e["name"], start, length))
            continue
        open_ends = [end for end in open_ends if end > start]
        open_ends.append(start + length)
        spans.append((len(open_ends), "operator", e["name"], start, length))
    return spans


def show_lanes(step=3, deepest=4):
    """Draw where one step's time went: annotations on top, operators below by depth."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    for lane, kind, name, start, length in lanes_of(step):
        if lane > deepest:
            continue
        ax.barh(-lane, length, left=start, height=0.8, edgecolor="black", linewidth=0.5, **KINDS[kind])
        if lane == 0 and length > 1.5:
            ax.text(start + length / 2, 0.5, name.partition("#")[0], ha="center", va="bottom", fontsize=7)
    ax.set_yticks(range(0, -deepest - 1, -1), ["annotations", *(f"operators, depth {d}" for d in range(1, deepest + 1))])
    ax.set_ylim(-deepest - 0.6, 1.2)
    ax.set_xlabel("ms since the step began")
    ax.set_title(f"ProfilerStep#{step}", fontsize=9)
    fig.tight_layout()
    plt.show()


show_lanes()
waits = [s for s in lanes_of(3) if s[2] == "load_batch"]
during = [s for s in lanes_of(3) if s[1] == "operator" and waits[0][3] <= s[3] < waits[0][3] + waits[0][4]]
assert len(waits) == 1 and waits[0][4] >= 1e3 * WAIT_S * 0.95 and not during

# %% [markdown]
# *One step as lanes: hatched boxes are annotations, gray ones operators, each lane one call deeper.
# Below `load_batch` there is nothing: no operator runs, the host waits. The picture is of the run that
# was stored; yours will have other lengths.*

# %% tags=["widget", "nbval-skip"]
explore(show_lanes, {"deepest": "deepest lane"}, step=(2, 4, 1), deepest=(1, 7, 1))

# %% [markdown]
# ### Self time and total time answer different questions
#
# **Claim 8.9, first half.** The profiler says where time and memory go, if you ask for what the operator
# itself used. Inclusive time puts wrappers on top, since it holds what the operators inside took.

# %% tags=["claim-8.9"]
table = {row.key: row for row in profiler.key_averages()}
linear, addmm = table["aten::linear"], table["aten::addmm"]

print("calls of aten::linear in three steps of three layers:", linear.count)
print("aten::linear: most of its total time is not its own:", linear.self_cpu_time_total < 0.5 * linear.cpu_time_total)
print("aten::addmm lies inside it:", addmm.cpu_time_total <= linear.cpu_time_total)

assert linear.count == 9
assert linear.self_cpu_time_total < 0.5 * linear.cpu_time_total
assert addmm.cpu_time_total <= linear.cpu_time_total

# memory, by the operator that asked for it: 1 MiB planted, and none for the control
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as memory:
    with record_function("planted"):
        planted = torch.zeros(512, 512)
    with record_function("control"):
        planted.t()  # a view of the same memory
by_name = {row.key: row for row in memory.key_averages()}
print("MiB asked for by aten::empty:", by_name["aten::empty"].self_cpu_memory_usage / 2**20)
print("MiB asked for during the control:", by_name["control"].cpu_memory_usage / 2**20)
assert by_name["aten::empty"].self_cpu_memory_usage == 2**20
assert by_name["control"].cpu_memory_usage == 0

# %% [markdown]
# {{exercise 8.9}}
#
# A trace arrives as a list of events, as in `trace["traceEvents"]` above. Find the operator that costs
# most **itself**, and the longest stretch in which the host ran no operator at all.

# %% nbgrader={"grade_id": "hot-spots", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3}
def hot_spots(events: list[dict]) -> dict:
    """Find the hot operator and the host stall in a Chrome trace.

    events: dicts in any order. Only complete events (`ph` is "X") have a `dur`; these have `name`, `cat`,
        `pid`, `tid`, and `ts` and `dur` in microseconds. Look only at the thread (same `pid` and `tid`) that
        carries the annotations `ProfilerStep#...`. There, `cat` "cpu_op" marks operators and "user_annotation"
        annotations; anything else is neither. All operators of that thread lie inside steps.

    Self time of a call: its `dur` without the `dur` of the operators directly inside it.
    Gap: a stretch inside one step, from its start to its end, in which no operator runs.

    Returns a dict with:
        operator (str): the name whose calls have the most self time in sum.
        self_us (float): that sum, in microseconds.
        stall_us (float): length of the longest gap; 0.0 if it is shorter than a tenth of its step.
        during (str or None): the innermost (shortest) annotation, steps apart, that is open at the middle
            of that gap; None if there is none, or no stall.

    Example: a step from 0 to 100 with the annotation "load" from 2 to 55, then aten::linear from 60 to 80, and
    inside that aten::addmm from 61 to 78. The longest gap is from 0 to 60, its middle is 30:
    {"operator": "aten::addmm", "self_us": 17.0, "stall_us": 60.0, "during": "load"}
    """
    ### BEGIN SOLUTION
    spans = [e for e in events if e.get("ph") == "X"]
    steps = [e for e in spans if e["cat"] == "user_annotation" and e["name"].startswith("ProfilerStep#")]
    threads = {(e["pid"], e["tid"]) for e in steps}
    own = [e for e in spans if (e["pid"], e["tid"]) in threads]
    ops = sorted((e for e in own if e["cat"] == "cpu_op"), key=lambda e: (e["ts"], -e["dur"]))

    def end(event):
        return event["ts"] + event["dur"]

    self_us, still_open = Counter(), []
    for op in ops:
        while still_open and end(still_open[-1]) <= op["ts"]:
            still_open.pop()
        self_us[op["name"]] += op["dur"]
        if still_open:
            self_us[still_open[-1]["name"]] -= op["dur"]
        still_open.append(op)
    operator = max(self_us, key=self_us.get)

    gaps = []
    for step in steps:
        latest = step["ts"]
        inside = [(op["ts"], end(op)) for op in ops if step["ts"] <= op["ts"] and end(op) <= end(step)]
        for start, stop in [*inside, (end(step), end(step))]:
            gaps.append((start - latest, (start + latest) / 2, step["dur"]))
            latest = max(latest, stop)
    longest, middle, length = max(gaps)

    found = {"operator": operator, "self_us": float(self_us[operator]), "stall_us": 0.0, "during": None}
    if longest >= 0.1 * length:
        notes = [e for e in own if e["cat"] == "user_annotation" and e not in steps]
        around = [e for e in notes if e["ts"] <= middle <= end(e)]
        during = min(around, key=lambda e: e["dur"])["name"] if around else None
        found.update(stall_us=longest, during=during)
    return found
    ### END SOLUTION


# %% nbgrader={"grade_id": "check-8-9", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3}
check("8.9", hot_spots)
### BEGIN HIDDEN TESTS
check("8.9", hot_spots, hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Your function on the trace that was just recorded. It should find the planted wait; which operator is
# hottest depends on the machine.

# %% tags=["uses-answer", "nbval-ignore-output"]
try:
    found = hot_spots(copy.deepcopy(events))
except NotImplementedError:
    print("hot_spots is still empty: solve exercise 8.9, then run this cell again")
else:
    print(found)

# %% [markdown]
# ## 2 · What keeps a graph alive
#
# **Claim 8.2.** `losses.append(loss)` can retain graphs; `loss.item()` stores a number;
# `loss.detach().clone()` stores a copy.
#
# Count it. A `weakref` to an intermediate tells whether that tensor still lives, and a walk along
# `grad_fn.next_functions` counts the graph nodes that a stored tensor holds on to.

# %% tags=["claim-8.2"]
small = nn.Sequential(nn.Linear(4, 256), nn.Tanh(), nn.Linear(256, 1))
features, goal = torch.randn(32, 4), torch.randn(32, 1)

KEEP = {
    "loss": lambda loss: loss,
    "loss.detach()": lambda loss: loss.detach(),
    "loss.detach().clone()": lambda loss: loss.detach().clone(),
    "loss.item()": lambda loss: loss.item(),
}


def nodes_of(value):
    """Number of graph nodes that a stored value holds on to."""
    seen, todo = set(), [getattr(value, "grad_fn", None)]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo += [following for following, _ in node.next_functions]
    return len(seen)


def retained(keep, backward, steps=5, collect=False):
    """(intermediates alive, graph nodes held) after some steps whose losses were stored by `keep`."""
    kept, hidden = [], []
    for _ in range(steps):
        h = small[:2](features)
        hidden.append(weakref.ref(h))
        loss = F.mse_loss(small[2](h), goal)
        if backward:
            loss.backward()
        kept.append(keep(loss))
        del h, loss
    if collect:
        gc.collect()
    return sum(ref() is not None for ref in hidden), sum(map(nodes_of, kept))


print(f"{'stored, 5 steps':24}{'without backward':>20}{'after backward':>20}")
counts = {}
for name, keep in KEEP.items():
    counts[name] = [retained(keep, backward) for backward in (False, True)]
    print(f"{name:24}" + "".join(f"{f'{alive} tensors, {held} nodes':>20}" for alive, held in counts[name]))

# no backward (a validation loop outside no_grad): every activation lives on, and it is no garbage
assert counts["loss"][0] == (5, 50) == retained(KEEP["loss"], backward=False, collect=True)
# backward frees the saved tensors, but the chain of nodes stays
assert counts["loss"][1] == (0, 50)
# controls: nothing else retains anything, and nor does the loss under no_grad
assert all(both == [(0, 0), (0, 0)] for name, both in counts.items() if name != "loss")
with torch.no_grad():
    assert retained(KEEP["loss"], backward=False) == (0, 0)
print("under no_grad, stored as loss:  0 tensors, 0 nodes")

# %% tags=["claim-8.2"]
loss = F.mse_loss(small(features), goal)
same, copied = loss.detach(), loss.detach().clone()
print("detach() shares the loss's memory:", same.data_ptr() == loss.data_ptr())
print("detach().clone() has its own:", copied.data_ptr() != loss.data_ptr())
assert same.data_ptr() == loss.data_ptr() != copied.data_ptr()

# why it matters: a later write in place reaches what shares the memory, and not the copy
before = loss.item()
with torch.no_grad():
    loss.mul_(2)
assert same.item() == 2 * before and copied.item() == before


def total_chain(add, steps=6):
    """Nodes held by a running total after each step."""
    total, lengths = 0.0, []
    for _ in range(steps):
        loss = F.mse_loss(small(features), goal)
        loss.backward()
        total = total + add(loss)
        lengths.append(nodes_of(total))
    return lengths


growing, flat = total_chain(KEEP["loss"]), total_chain(KEEP["loss.item()"])
print("nodes held by total += loss:       ", growing)
print("nodes held by total += loss.item():", flat)
assert all(later - earlier == growing[1] - growing[0] > 0 for earlier, later in zip(growing, growing[1:]))
assert set(flat) == {0}

# %%
def held_bytes(keep, backward, steps):
    alive, _ = retained(keep, backward, steps)
    return alive * 32 * 256 * 4 / 1024  # the hidden activation: 32 x 256 float32


counted = list(range(1, 9))
curves = {
    ("loss, no backward", "o-"): [held_bytes(KEEP["loss"], False, n) for n in counted],
    ("loss, after backward", "s--"): [held_bytes(KEEP["loss"], True, n) for n in counted],
    ("loss.item()", "x:"): [held_bytes(KEEP["loss.item()"], False, n) for n in counted],
}
fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.8))
for (label, style), values in curves.items():
    left.plot(counted, values, style, label=label, fillstyle="none")
left.set(xlabel="steps", ylabel="KiB of activations alive")
left.legend(fontsize=7)
right.plot(range(1, 7), growing, "o-", label="total += loss", fillstyle="none")
right.plot(range(1, 7), flat, "x:", label="total += loss.item()")
right.set(xlabel="steps", ylabel="graph nodes held")
right.legend(fontsize=7)
fig.tight_layout()
plt.show()
assert curves["loss, no backward", "o-"] == [32.0 * n for n in counted]
assert curves["loss, after backward", "s--"] == curves["loss.item()", "x:"] == [0.0] * 8

# %% [markdown]
# *Left: activations that a list of losses keeps alive grow by 32 KiB a step where backward never ran
# (circles), and not at all after backward (squares) or with numbers (crosses). Right: a running total's
# chain of nodes grows even where backward ran at every step.*

# %% [markdown]
# ## 3 · What the optimizer keeps
#
# **Claim 8.3.** Adam in float32 keeps two moments, each as large as the parameters; with the weights
# that makes three tensors. Gradients are a fourth, while they live.

# %% tags=["claim-8.3"]
def state_sizes(make, steps=1):
    """How often the parameters' size each kind of optimizer state is (scalars left out)."""
    model = nn.Sequential(nn.Linear(30, 20), nn.ReLU(), nn.Linear(20, 10))
    optimizer = make(model.parameters())
    for _ in range(steps):
        model(torch.ones(2, 30)).sum().backward()
        optimizer.step()
    size = sum(p.numel() for p in model.parameters())
    sizes = Counter()
    for state in optimizer.state.values():
        for name, value in state.items():
            if torch.is_tensor(value) and value.numel() > 1:
                assert value.dtype == torch.float32
                sizes[name] += value.numel()
    return {name: count / size for name, count in sizes.items()}


adam = state_sizes(torch.optim.Adam)
print("Adam:", adam, "-> with the weights:", 1 + sum(adam.values()), "times the parameters")
print("Adam before its first step:", state_sizes(torch.optim.Adam, steps=0))
print("SGD:", state_sizes(lambda p: torch.optim.SGD(p, lr=0.1)))
print("SGD with momentum:", list(state_sizes(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)).values()))
print("Adam with amsgrad:", sum(state_sizes(lambda p: torch.optim.Adam(p, amsgrad=True)).values()))

assert adam == {"exp_avg": 1.0, "exp_avg_sq": 1.0}
# controls: the count follows the optimizer, and state appears at the first step, not before
assert state_sizes(torch.optim.Adam, steps=0) == state_sizes(lambda p: torch.optim.SGD(p, lr=0.1)) == {}
assert sum(state_sizes(lambda p: torch.optim.Adam(p, amsgrad=True)).values()) == 3.0

# %% [markdown]
# ## 4 · The compiler's log
#
# **Claim 8.4.** `TORCH_LOGS` must be set before Python starts, or `torch._logging.set_logs` called while it
# is not set. The variable wins.
#
# torch reads the variable once, when it is imported, so each case gets a process of its own. The script
# compiles a function with `backend="eager"` (which needs no C++ compiler), calls it with two shapes, and so
# makes it recompile; with that log switched on, stderr has a line about it.

# %%
LOGGED = '''
import os, sys, torch

def double(x):
    return x * 2

def recompile(label):
    print(f"== {label}", file=sys.stderr, flush=True)
    torch._dynamo.reset()
    compiled = torch.compile(double, backend="eager", dynamic=False)
    compiled(torch.ones(2)), compiled(torch.ones(3))

if sys.argv[1] == "variable":
    recompile("set before Python starts")
    torch._logging.set_logs(recompiles=False, graph_breaks=True)
    recompile("set_logs says otherwise")
else:
    os.environ["TORCH_LOGS"] = "recompiles"
    recompile("set after the import")
    del os.environ["TORCH_LOGS"]
    torch._logging.set_logs(recompiles=True)
    recompile("set_logs without the variable")
'''


def start(script, *args, **variables):
    """Start a Python script in a process of its own, with some environment variables set."""
    env = {k: v for k, v in os.environ.items() if k not in ("TORCH_LOGS", "TORCH_DISTRIBUTED_DEBUG")}
    env |= {"OMP_NUM_THREADS": "1", **variables}
    return subprocess.Popen(
        [sys.executable, "-c", script, *args], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(process, seconds=100):
    """(exit status, stdout, stderr) of a process; it is ended after so many seconds."""
    try:
        out, err = process.communicate(timeout=seconds)
    finally:
        process.kill()
    return process.returncode, out, err


# %% tags=["claim-8.4"]
logs = [  # one after the other: each takes some 250 MB
    finish(start(LOGGED, "variable", TORCH_LOGS="recompiles"))[2],
    finish(start(LOGGED, "late"))[2],
]
cases = {}
for part in "".join(logs).split("== ")[1:]:
    label, _, lines = part.partition("\n")
    cases[label] = "Recompiling function double" in lines
    print(f"{label:32} recompile logged: {cases[label]}")

assert cases == {
    "set before Python starts": True,
    "set_logs says otherwise": True,  # the variable wins
    "set after the import": False,  # the control: too late
    "set_logs without the variable": True,
}
assert "ignoring call to set_logs" in logs[0] and "ignoring" not in logs[1]

# %% [markdown]
# An *empty* variable is set, too. It is no way to switch logs off: unset it instead. What an empty one does
# depends on the version, so this cell says what it does here. With torch 2.13.0 the import itself fails.

# %% tags=["claim-8.4", "nbval-ignore-output"]
status, _, stderr = finish(start("import torch; torch._logging.set_logs(recompiles=True); print('ran')", TORCH_LOGS=""))
ignored = "ignoring call to set_logs" in stderr
print(f"torch {torch.__version__}, TORCH_LOGS='': exit status {status};", (stderr.strip() or "no message").splitlines()[-1])
assert status != 0 or ignored

# %% [markdown]
# ## 5 · Graph breaks, and a way to a graph
#
# **Claim 8.5.** `torch._dynamo.explain` reports graph breaks and guards. `torch.export.export` is the
# versioned way to a graph: one graph or an error, and saved with a schema version.
#
# A Python `if` on a tensor's value is the classical break: the compiler can't know the branch while tracing.
# (`torch._dynamo.explain` is private; it has moved before. Use it to look, not in code that must last.)

# %%
import torch._dynamo


class Branching(nn.Module):
    """Chooses by a tensor's value, in Python."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        h = self.layer(x)
        if h.sum() > 0:
            return h.relu()
        return h.neg()


class Selecting(Branching):
    """The same choice as an operation on tensors."""

    def forward(self, x):
        h = self.layer(x)
        return torch.where(h.sum() > 0, h.relu(), h.neg())


example = torch.linspace(-1, 1, 8).reshape(2, 4)

# %% tags=["claim-8.5"]
branching, selecting = Branching(), Selecting()
selecting.load_state_dict(branching.state_dict())

broken = torch._dynamo.explain(branching)(example)
mended = torch._dynamo.explain(selecting)(example)
for name, report in (("branching", broken), ("selecting", mended)):
    print(f"{name}: {report.graph_count} graphs, {report.graph_break_count} breaks, guards listed: {bool(report.out_guards)}")
print("the break is at:", broken.break_reasons[0].user_stack[-1].line)

assert (broken.graph_count, broken.graph_break_count) == (2, 1)
assert (mended.graph_count, mended.graph_break_count) == (1, 0)  # the control
assert "h.sum() > 0" in broken.break_reasons[0].user_stack[-1].line
assert broken.out_guards and mended.out_guards
for x in (example, -example, 3 * example + 1):  # mended means the same values, not only fewer graphs
    assert torch.equal(branching(x), selecting(x))

# %% tags=["claim-8.5"]
import zipfile


def exports(module):
    """The exported program, or None where export refuses."""
    logging.disable(logging.CRITICAL)  # a refusal writes a page of explanation
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return torch.export.export(module, (example,))
    except RuntimeError as error:
        assert "data-dependent" in str(error).lower()
        return None
    finally:
        logging.disable(logging.NOTSET)


program = exports(selecting)
print("branching exports:", exports(branching) is not None)
print("selecting exports:", program is not None)
print("operators:", [n.target.name().removeprefix("aten::") for n in program.graph.nodes if n.op == "call_function"])

saved = io.BytesIO()
torch.export.save(program, saved)
model = next(n for n in zipfile.ZipFile(saved).namelist() if n.endswith("model.json"))
print("a saved program says its schema's version:", "schema_version" in json.loads(zipfile.ZipFile(saved).read(model)))

assert exports(branching) is None and program is not None
assert torch.allclose(program.module()(example), selecting(example))
assert "schema_version" in json.loads(zipfile.ZipFile(saved).read(model))

# %% [markdown]
# ## 6 · A count of recompiles names no cause
#
# **Claim 8.6.** Recompilation comes from shapes, dtypes, Python values or other guards; how often it happens
# does not say which.
#
# Three loops, each compiled twice. The number is the same; the guard in the log tells them apart.

# %% tags=["claim-8.6"]
class Lines(logging.Handler):
    """Keeps log messages in a list."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines += record.getMessage().splitlines()


def compilations(calls, **options):
    """(number of graphs compiled, guards that failed) over some calls of one function."""
    graphs, kept = [], Lines()
    logger = logging.getLogger("torch._dynamo.guards.__recompiles")

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    torch._logging.set_logs(recompiles=True)
    logger.addHandler(kept)
    logger.propagate = False
    try:
        compiled = torch.compile(lambda x, scale: x * scale, backend=backend, **options)
        for args in calls:
            compiled(*args)
    finally:
        logger.removeHandler(kept)
        torch._logging.set_logs()
    return len(graphs), [line.strip(" -") for line in kept.lines if line.strip().startswith("- 0/0:")]


causes = {
    "another shape": ([(torch.ones(2), 2), (torch.ones(3), 2)], "size mismatch"),
    "another dtype": ([(torch.ones(2), 2), (torch.ones(2).double(), 2)], "dtype mismatch"),
    "another Python value": ([(torch.ones(2), 2), (torch.ones(2), 3)], "scale == 2"),
}
guards = {}
for name, (calls, words) in causes.items():
    count, guards[name] = compilations(calls, dynamic=False)
    print(f"{name:22} {count} graphs; the failed guard says {words!r}: {words in guards[name][0]}")
    assert count == 2 and words in guards[name][0]
    assert not any(other in guards[name][0] for _, other in causes.values() if other != words)

# controls: equal calls compile once; dynamic=True mends the shape and leaves the dtype
assert compilations([(torch.ones(2), 2)] * 3, dynamic=False) == (1, [])
lengths = [(torch.ones(n), 2.0) for n in (4, 5, 6)]
print("three lengths, dynamic=False and True:", compilations(lengths, dynamic=False)[0], compilations(lengths, dynamic=True)[0])
assert compilations(lengths, dynamic=False)[0] == 3 and compilations(lengths, dynamic=True)[0] == 1
assert compilations(causes["another dtype"][0], dynamic=True)[0] == 2

# %% tags=["nbval-ignore-output"]
for name, lines in guards.items():  # the guards in full; their wording belongs to the version
    print(f"{name}: {lines[0].partition('#')[0].strip()}")

# %% [markdown]
# ## 7 · `torch.where` is not an `if`
#
# **Claim 8.7.** `torch.where` is no universal replacement for control flow: both sides may be evaluated, and
# the side that was not chosen still takes part in the backward pass. Compiling does not change that.
#
# In section 5 it was the right repair, since both sides were valid everywhere. Here one is not.

# %% tags=["claim-8.7"]
def root_or_zero(x):
    return torch.where(x > 0, x.sqrt(), 0.0).sum()


def safe_root_or_zero(x):
    positive = x > 0
    return torch.where(positive, torch.where(positive, x, 1.0).sqrt(), 0.0).sum()  # a safe input first


def run_backward(fn, values):
    x = torch.tensor(values, requires_grad=True)
    out = fn(x)
    out.backward()
    return out.item(), [round(v, 4) for v in x.grad.tolist()]


def is_nan(values):
    return [v != v for v in values]


seen = []


def spy(graph, _):
    seen.extend(str(n.target).removeprefix("<method '").partition("'")[0] for n in graph.graph.nodes if n.op.startswith("call"))
    return graph.forward


torch._dynamo.reset()
torch.compile(root_or_zero, backend=spy, fullgraph=True)(torch.tensor([-1.0, 4.0]))
print("the compiled graph takes the root of everything:", any("sqrt" in name for name in seen))
assert any("sqrt" in name for name in seen) and any("where" in name for name in seen)

for name, fn in (("where", root_or_zero), ("double where", safe_root_or_zero)):
    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="aot_eager", fullgraph=True)  # traces backward too, needs no compiler
    for label, run in (("eager", fn), ("aot_eager", compiled)):
        value, grad = run_backward(run, [-1.0, 0.0, 4.0])
        print(f"{name:13}{label:10} value {value}, gradient {grad}")
        assert value == 2.0
        assert is_nan(grad) == ([True, True, False] if fn is root_or_zero else [False] * 3)
        # the control: where both sides are valid, nothing is wrong with where
        assert run_backward(run, [1.0, 4.0, 16.0]) == (7.0, [0.5, 0.25, 0.125])

# %% [markdown]
# The default backend, inductor, writes C++ and needs a compiler. Where there is none, or little memory (a
# compiler takes about 400 MB beside this kernel), the next cell says so and skips; the claim was shown above.

# %% tags=["claim-8.7", "nbval-ignore-output"]
def free_bytes():
    """Memory that may still be used, as far as the system says; None where it does not."""
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    free = [os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")] if hasattr(os, "sysconf") else []
    if limit.exists() and used.exists() and limit.read_text().strip().isdigit():
        free.append(int(limit.read_text()) - int(used.read_text()))
    return min(free, default=None)


compiler = next((c for c in (os.environ.get("CXX"), "g++", "clang++") if c and shutil.which(c)), None)
if compiler is None:
    print("skipped: inductor needs a C++ compiler, and there is none on PATH")
elif (free_bytes() or 2**40) < 700 * 2**20:
    print("skipped: less than 700 MB of memory are free, too little for a C++ compiler")
else:
    from torch._inductor import config

    # plain scalar code: no test programs for vector units, no precompiled headers
    cheap = {"cpp.vec_isa_ok": False, "compile_threads": 1, "cpp_cache_precompile_headers": False}
    cheap = {key: value for key, value in cheap.items() if hasattr(config.cpp if "." in key else config, key.split(".")[-1])}
    torch._dynamo.reset()
    with config.patch(cheap):
        value, grad = run_backward(torch.compile(root_or_zero, fullgraph=True), [-1.0, 0.0, 4.0])
    print(f"inductor with {compiler}: value {value}, gradient {grad}")
    assert value == 2.0 and is_nan(grad) == [True, True, False]

# %% [markdown]
# ## 8 · Two ranks that disagree
#
# **Claim 8.11.** When ranks disagree, record the failing rank, the collective's sequence number, shape, dtype
# and the timeout. `TORCH_DISTRIBUTED_DEBUG=DETAIL` adds checks that name the mismatch; without it the job
# hangs until its timeout.
#
# Two ranks on this machine's loopback, backend gloo, timeout three seconds. The first collective is the same on
# both ranks (the control). At the second, rank 0 calls `all_reduce` and rank 1 `broadcast`. The job runs
# twice, the second time with `DETAIL`. The script imports torch once and forks the ranks; a process that has
# already imported torch reads the variable again with `set_debug_level_from_env()`.

# %%
RANKS = '''
import datetime, gc, json, os, pickle, tempfile
import torch, torch.distributed as dist

def rank_main(rank, level, folder):
    os.environ["TORCH_DISTRIBUTED_DEBUG"] = level
    dist.set_debug_level_from_env()
    store = dist.FileStore(f"{folder}/{level}", 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=datetime.timedelta(seconds=3))
    x = torch.ones(4)
    dist.all_reduce(x)
    report = {"level": level, "rank": rank, "first": x.tolist(), "error": ""}
    try:
        dist.all_reduce(x) if rank == 0 else dist.broadcast(x, 0)
    except RuntimeError as error:
        report["error"] = str(error)
    dump = getattr(torch._C._distributed_c10d, "_dump_fr_trace", None)
    report["recorded"] = pickle.loads(dump(includeStackTraces=False))["entries"] if dump else None
    with open(f"{folder}/{level}-{rank}.json", "w") as file:
        json.dump(report, file, default=str)

gc.freeze()  # children then share more memory with this process
with tempfile.TemporaryDirectory() as folder:
    for level in ("OFF", "DETAIL"):
        children = []
        for rank in (0, 1):
            child = os.fork()
            if not child:
                try:
                    rank_main(rank, level, folder)
                finally:
                    os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            print(open(f"{folder}/{name}").read())
'''


def run_ranks():
    """Reports of the four ranks by (level, rank); None where this machine can't run them."""
    if not (torch.distributed.is_available() and torch.distributed.is_gloo_available() and hasattr(os, "fork")):
        return None
    interface = {"GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {}
    status, out, err = finish(start(RANKS, **interface), seconds=60)
    reports = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert len(reports) == 4, err[-2000:]
    return {(r["level"], r["rank"]): r for r in reports}


def late(report):
    """Whether a rank waited until the timeout."""
    return "timed out waiting 3000ms" in report["error"].lower()


# %% tags=["claim-8.11"]
reports = run_ranks()
if reports is None:
    print("skipped: this build of torch has no gloo, or the system no fork")
else:
    off, detail = ([reports[level, rank] for rank in (0, 1)] for level in ("OFF", "DETAIL"))
    print("control, the matching collective gives the sum on all four ranks:", {tuple(r["first"]) for r in reports.values()})
    print("OFF:    a rank waited out the 3 s:", any(late(r) for r in off))
    print("OFF:    an error names the collectives:", any("BROADCAST" in r["error"] for r in off))
    print("DETAIL: both ranks raised before the timeout:", all(r["error"] and not late(r) for r in detail))
    words = ("mismatch", "SequenceNumber", "ALLREDUCE", "BROADCAST", "TensorShape=[4]", "TensorDtypes=Float")
    for word in words:
        print(f"DETAIL: {word:20} named on both ranks:", all(word in r["error"] for r in detail))

    assert {tuple(r["first"]) for r in reports.values()} == {(2.0, 2.0, 2.0, 2.0)}
    assert any(late(r) for r in off)
    assert not any(word in r["error"] for r in off for word in ("ALLREDUCE", "BROADCAST"))
    assert all(word in r["error"] for r in detail for word in words)
    assert all(r["error"] and not late(r) for r in detail)

# %% [markdown]
# Without `DETAIL` all is not lost: recent versions keep a **flight recorder**, a ring buffer of the last
# collectives, and it is on by default. Read on each rank after the timeout, it says what each had been doing.
# (On a CPU build it is read with a private function; jobs on GPUs write it to files, see *08-gpu*.)

# %% tags=["claim-8.11", "nbval-ignore-output"]
if reports is None or off[0]["recorded"] is None:
    print(f"skipped: torch {torch.__version__} offers no flight recorder on this build")
else:
    for r in off:
        last = r["recorded"][-1]
        print(f"rank {r['rank']}: collective {last['collective_seq_id']} {last['profiling_name']:16}"
              f"shape {last['input_sizes']} dtype {last['input_dtypes']} timeout {last['timeout_ms']} ms")
    lasts = [r["recorded"][-1] for r in off]
    assert [e["profiling_name"].partition(":")[2] for e in lasts] == ["all_reduce", "broadcast"]
    assert lasts[0]["collective_seq_id"] == lasts[1]["collective_seq_id"]
    assert all(e["input_sizes"] == [[4]] and e["timeout_ms"] == 3000 for e in lasts)
    # the control: one collective before, the ranks agreed
    assert len({r["recorded"][-2]["profiling_name"] for r in off}) == 1

# %% [markdown]
# ## What to take along
#
# - Ask a trace for **self** time and for **gaps**; the longest bar is usually a wrapper.
# - Store numbers (`.item()`) or copies (`.detach().clone()`), never losses.
# - Switch `TORCH_LOGS` on before Python starts, and read the guard, not the count.
# - Replace an `if` by `torch.where` only where both sides are valid.
# - Give collectives a timeout that you can afford, and turn `DETAIL` on to find out, off to train.
