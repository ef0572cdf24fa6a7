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
# # 08-gpu · Tool belt on a GPU
#
# Memory, time and collectives on a CUDA device. Nothing here is graded.
#
# Cells that need a device ask for one. Without it they print a line that begins with `skipped:` and do
# nothing else: what you then read is a reference, not a result. What can be checked without a device is
# checked everywhere: that the names exist in the installed torch, that the functions which read a snapshot or
# a trace are right, and that settings do what they are said to do. The last cell lists what ran and what did
# not. The outputs stored in this notebook come from a machine without a device.

# %% tags=["setup", "gpu"] nbgrader={"grade_id": "setup-08-gpu", "grade": false, "solution": false, "locked": true, "task": false, "schema_version": 3}
import os

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or the profiler writes two USDT lines at each start and stop

import importlib.util
import inspect
import json
import mmap
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

# %matplotlib inline
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

torch.set_num_threads(1)
torch.manual_seed(8)
plt.rcParams["figure.dpi"] = 90
DEVICES = torch.cuda.device_count() if torch.cuda.is_available() else 0
RAN, SKIPPED = [], []


def needs(what, devices=1, also=True, why=""):
    """Whether a cell can run here; if not, it says so in a line that begins with `skipped:`."""
    if DEVICES < devices:
        why = "no CUDA device" if not DEVICES else f"{devices} CUDA devices are needed, there is {DEVICES}"
    elif also:
        RAN.append(what)
        return True
    SKIPPED.append(what)
    print(f"skipped: {what} ({why})")
    return False


# %% [markdown]
# ## 1 · Memory
#
# **Claim 8.1.** The CUDA allocation history (a private interface) records what the caching allocator manages,
# not every allocation on the device. Dump inside `try`, disable in `finally`. Then look at allocated against
# reserved memory, and at how long references live.
#
# Private names move between versions, so the first thing to check is that they are there.

# %% tags=["gpu", "claim-8.1"]
memory = torch.cuda.memory
private = ["_record_memory_history", "_snapshot", "_dump_snapshot"]
public = ["memory_allocated", "memory_reserved", "max_memory_allocated", "empty_cache", "mem_get_info"]
options = inspect.signature(memory._record_memory_history).parameters

print("private names:", all(hasattr(memory, name) for name in private))
print("public names:", all(hasattr(torch.cuda, name) for name in public))
print("options:", [name for name in ("enabled", "context", "stacks", "max_entries") if name in options])
print("a viewer comes with torch:", importlib.util.find_spec("torch.cuda._memory_viz") is not None)

assert all(hasattr(memory, name) for name in private) and all(hasattr(torch.cuda, name) for name in public)
assert {"enabled", "context", "stacks", "max_entries"} <= set(options)
assert not hasattr(memory, "_record_every_allocation")  # the control: hasattr can say no

# %% [markdown]
# A snapshot is plain data: segments that were reserved from the device, and in each its blocks with their state
# and the stack that allocated them. A leak is found by asking which function's allocations are still alive. The
# function for that needs no device; here it reads a miniature in a snapshot's shape, **made by hand**.

# %% tags=["gpu", "claim-8.1"]
def held_by(snapshot, file=None):
    """Live bytes by the function that allocated them: the innermost frame of our own code.

    snapshot: from `_snapshot()` or a dump read with pickle. file: only frames of this file count as ours.
    """
    held = Counter()
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            if block["state"] != "active_allocated":
                continue
            frames = [f for f in block.get("frames", ()) if file is None or f["filename"] == file]
            size = block.get("requested_size", block["size"])  # a block may be larger than what was asked for
            held[frames[0]["name"] if frames else "elsewhere"] += size
    return held


def frame(name):
    return {"name": name, "filename": "train.py", "line": 1}


miniature = {"segments": [{"total_size": 20 * 2**20, "blocks": [
    {"state": "active_allocated", "size": 3 * 2**20, "frames": [frame("log_batch"), frame("train")]},
    {"state": "active_allocated", "size": 2**20, "frames": [frame("build_model")]},
    {"state": "inactive", "size": 16 * 2**20, "frames": [frame("forward")]},
]}]}  # fmt: skip

print({name: f"{size / 2**20:g} MiB" for name, size in held_by(miniature).items()})
assert held_by(miniature) == {"log_batch": 3 * 2**20, "build_model": 2**20}
assert "forward" not in held_by(miniature)  # the control: a block that was freed is no leak
assert held_by(miniature, file="other.py") == {"elsewhere": 4 * 2**20}

# %% [markdown]
# And now on a device: a loop with a planted leak. `log_batch` makes a tensor at each step and keeps it.

# %% tags=["gpu", "claim-8.1"]
LEAK_STEPS = 8
kept = []


def log_batch(h, keep):
    picture = h.detach().clone()  # allocated here
    if keep:
        kept.append(picture)


def training(keep):
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 8)).cuda()
    x = torch.randn(512, 256, device="cuda")
    for _ in range(LEAK_STEPS):
        h = model[:2](x)
        log_batch(h, keep)
        model[2](h).square().mean().backward()


def recorded(keep):
    """Snapshot after training, dumped to a file and read back; recording ends whatever happens."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "memory.pickle")
        memory._record_memory_history(enabled="all", context="all", stacks="python", max_entries=100_000)
        try:
            training(keep)
            torch.cuda.synchronize()
            memory._dump_snapshot(path)
        finally:
            memory._record_memory_history(enabled=None)
        return pickle.loads(Path(path).read_bytes())  # your own file: never unpickle one that you don't trust


if needs("find a planted leak in a memory snapshot"):
    size = 512 * 1024 * 4  # one picture: 512 x 1024 float32
    kept.clear()
    leaking, file = recorded(keep=True), log_batch.__code__.co_filename
    print("held by log_batch, in pictures:", held_by(leaking, file)["log_batch"] / size)
    kept.clear()
    healthy = recorded(keep=False)
    print("held by log_batch without the leak:", held_by(healthy, file)["log_batch"])
    assert held_by(leaking, file)["log_batch"] == LEAK_STEPS * size
    assert held_by(healthy, file)["log_batch"] == 0  # the control

# %% [markdown]
# *Allocated* is what tensors hold now; *reserved* is what the caching allocator took from the device and keeps
# for reuse. Other programs see the reserved part as used, and more: context and libraries allocate past it.

# %% tags=["gpu", "claim-8.1"]
def megabytes():
    free, total = torch.cuda.mem_get_info()
    return [round(n / 2**20) for n in (torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), total - free)]


if needs("allocated, reserved and used memory of the device"):
    kept.clear()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    rows = {"at first": megabytes()}
    block = torch.empty(64 * 2**20, dtype=torch.uint8, device="cuda")
    rows["64 MiB tensor"] = megabytes()
    alias = block[:1]
    del block
    rows["del, but a view is alive"] = megabytes()
    del alias
    rows["the view is gone, too"] = megabytes()
    torch.cuda.empty_cache()
    rows["empty_cache()"] = megabytes()
    print(f"{'MiB':28}{'allocated':>10}{'reserved':>10}{'device used':>13}")
    for name, (allocated, reserved, used) in rows.items():
        print(f"{name:28}{allocated:>10}{reserved:>10}{used:>13}")
    first, full, viewed, freed, emptied = rows.values()
    assert full[0] - first[0] == 64 and viewed[0] == full[0]  # one byte of a view keeps all of it
    assert freed[0] == first[0] and freed[1] == full[1]  # freed memory stays reserved
    assert emptied[1] <= freed[1] - 64
    assert all(reserved <= used for _, reserved, used in rows.values())  # the allocator does not manage everything

# %% [markdown]
# Without a device, a **model** of the caching allocator shows the same two curves. It is no measurement: it
# knows just three rules. A request takes the smallest cached block that is large enough; if there is none,
# memory is reserved, in steps of 2 MiB; a freed block stays in the cache until `empty_cache`.

# %% tags=["gpu"]
class ModelAllocator:
    """A model of a caching allocator, in MiB. Blocks are not split, unlike the real one's."""

    def __init__(self):
        self.live, self.cache, self.history = {}, [], []

    def take(self, name, size):
        block = min((b for b in self.cache if b >= size), default=None)
        if block is None:
            block = -(-size // 2) * 2
        else:
            self.cache.remove(block)
        self.live[name] = (size, block)
        self._note(f"+{name}")

    def free(self, name):
        self.cache.append(self.live.pop(name)[1])
        self._note(f"-{name}")

    def empty_cache(self):
        self.cache.clear()
        self._note("empty\ncache")

    def _note(self, label):
        allocated = sum(size for size, _ in self.live.values())
        reserved = sum(block for _, block in self.live.values()) + sum(self.cache)
        self.history.append((label, allocated, reserved))


model = ModelAllocator()
for act in ("+W 8", "+A 31", "+B 15", "-A", "-B", "+C 17", "-C", "+D 35", "-D", "empty"):
    name, _, size = act[1:].partition(" ")
    if act == "empty":
        model.empty_cache()
    elif act[0] == "+":
        model.take(name, int(size))
    else:
        model.free(name)

labels, allocated, reserved = zip(*model.history)
fig, ax = plt.subplots(figsize=(6.4, 2.8))
ax.step(range(len(labels)), reserved, "s--", where="post", label="reserved", fillstyle="none")
ax.step(range(len(labels)), allocated, "o-", where="post", label="allocated")
ax.set_xticks(range(len(labels)), labels, fontsize=8)
ax.set(ylabel="MiB", title="model of a caching allocator, not a measurement")
ax.legend()
fig.tight_layout()
plt.show()

assert all(a <= r for a, r in zip(allocated, reserved))
assert reserved[labels.index("-B")] == reserved[labels.index("+B")]  # freeing returns nothing to the device
assert reserved[labels.index("+C")] == reserved[labels.index("-B")]  # C reuses the block of A
assert reserved[labels.index("+D")] > reserved[labels.index("-C")]  # D is larger than any cached block
assert (allocated[-1], reserved[-1]) == (8, 8)

# %% [markdown]
# *The model's allocated memory (circles, solid) falls when a tensor goes; reserved memory (squares, dashed) falls
# only at `empty_cache`. D needs new memory though 48 MiB are cached, since no single block is large enough:
# a simple kind of fragmentation.*

# %% [markdown]
# ## 2 · Time
#
# **Claim 8.10.** GPU profiles need CUDA activity, and to be read with synchronization in mind. Idle intervals
# on the device point at host work. Many short kernels are only a *candidate* for fusion.
#
# Launching a kernel returns at once. A clock that is stopped then has timed the launches. Again a **model**
# first: launching takes the host 10 µs, and the device runs kernels in order.

# %% tags=["gpu"]
LAUNCH_US = 10.0


def queue_model(kernels, host_work=()):
    """Model of a stream: (host, device) spans as (start, length) in microseconds.

    kernels: length of each kernel. host_work: extra host time before the kernel of that number.
    """
    host, device, now, device_free = [], [], 0.0, 0.0
    for number, length in enumerate(kernels):
        now += dict(host_work).get(number, 0.0)
        host.append((now, LAUNCH_US))
        now += LAUNCH_US
        start = max(now, device_free)
        device.append((start, length))
        device_free = start + length
    return host, device


def ends(spans):
    return spans[-1][0] + spans[-1][1]


def busy(device):
    return sum(length for _, length in device) / (ends(device) - device[0][0])


modeled = {
    "long kernels": queue_model([60.0] * 6),
    "short kernels": queue_model([3.0] * 6),
    "host work between": queue_model([30.0] * 6, host_work={3: 150.0}),
}
fig, axes = plt.subplots(3, 1, figsize=(6.4, 3.6), sharex=True)
for ax, (name, (host, device)) in zip(axes, modeled.items()):
    ax.broken_barh(host, (1, 0.8), facecolor="white", edgecolor="black", hatch="///")
    ax.broken_barh(device, (0, 0.8), facecolor="0.7", edgecolor="black")
    ax.axvline(ends(host), linestyle=":", color="black")
    ax.set_yticks([0.4, 1.4], ["device", "host"], fontsize=8)
    ax.set_title(f"{name}: device busy {100 * busy(device):.0f} %", fontsize=8, loc="left")
axes[-1].set_xlabel("µs (model, not a measurement)")
fig.tight_layout()
plt.show()

for name, (host, device) in modeled.items():
    print(f"{name:18} clock without synchronization {ends(host):5.0f} µs, with {ends(device):5.0f} µs")
assert ends(modeled["long kernels"][0]) == 60.0 and ends(modeled["long kernels"][1]) == 370.0
assert busy(modeled["short kernels"][1]) < 0.4 and busy(modeled["long kernels"][1]) == 1.0

# %% [markdown]
# *Modeled host launches (hatched) and device kernels (gray); the dotted line is where a clock stops that did not
# synchronize. Long kernels: it stops far too early. Short ones: the device waits for launches most of the time.
# Host work leaves one wide gap on the device.*

# %% tags=["gpu", "claim-8.10"]
print("names:", all(hasattr(torch.cuda, n) for n in ("synchronize", "Event")), hasattr(ProfilerActivity, "CUDA"))
assert hasattr(torch.cuda, "synchronize") and hasattr(torch.cuda.Event, "elapsed_time")
assert hasattr(ProfilerActivity, "CUDA") and hasattr(torch, "compile")

if needs("time with and without synchronization"):
    a = torch.randn(4096, 4096, device="cuda")
    a @ a  # warm up: the first call loads libraries
    torch.cuda.synchronize()

    def timed(synchronize, repeats=20):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start = time.perf_counter()
        begin.record()
        for _ in range(repeats):
            a @ a
        end.record()
        if synchronize:
            torch.cuda.synchronize()
        host_ms = 1e3 * (time.perf_counter() - start)
        torch.cuda.synchronize()
        return host_ms, begin.elapsed_time(end)

    without, with_sync = timed(False), timed(True)
    print(f"clock without synchronization {without[0]:.2f} ms, with {with_sync[0]:.2f} ms, events {with_sync[1]:.2f} ms")
    assert without[0] < 0.5 * without[1]  # timed the launches
    assert with_sync[0] >= 0.95 * with_sync[1]  # the control: synchronized, the clock covers the work

# %% [markdown]
# In a trace, kernels are events of `cat` "kernel". Idle intervals are gaps between them, and the question is
# what the host did meanwhile. The function that finds the gap is tried on the model first.

# %% tags=["gpu", "claim-8.10"]
def longest_idle(device):
    """(start, end) of the longest gap between device spans, each (start, length)."""
    latest, best = None, (0.0, 0.0)
    for start, length in sorted(device):
        if latest is not None and start - latest > best[1] - best[0]:
            best = (latest, start)
        latest = max(latest or 0.0, start + length)
    return best


idle = longest_idle(modeled["host work between"][1])
print("longest idle interval of the model:", idle)
assert idle[1] - idle[0] > 50 and longest_idle(modeled["long kernels"][1]) == (0.0, 0.0)

if needs("find host work in a CUDA profile"):
    a = torch.randn(512, 512, device="cuda")
    torch.tanh(a @ a / 512)  # warm up: loading a kernel for the first time is a gap, too
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for step in range(8):
            if step == 5:
                with record_function("host_work"):
                    time.sleep(0.05)
            for _ in range(10):
                a = torch.tanh(a @ a / 512)
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    kernels = [(e["ts"], e["dur"]) for e in events if e.get("cat") == "kernel"]
    host = next(e for e in events if e["name"] == "host_work" and e.get("cat") == "user_annotation")
    low, high = longest_idle(kernels)
    print(f"{len(kernels)} kernels; idle for {(high - low) / 1e3:.0f} ms while the host was in {host['name']}")
    assert kernels and low < host["ts"] + host["dur"] and host["ts"] < high and high - low > 30_000
    with profile(activities=[ProfilerActivity.CPU]) as without_cuda:
        torch.tanh(a)
        torch.cuda.synchronize()
    assert not any(row.device_time_total for row in without_cuda.key_averages())  # the control: no CUDA activity

# %% [markdown]
# Many short kernels in a row are a candidate for fusion. Whether fusion pays is measured, before and after.

# %% tags=["gpu", "claim-8.10"]
def pointwise(x):
    for _ in range(12):
        x = torch.sin(x) * 0.9 + 0.1
    return x


def kernels_of(fn, x):
    """(kernels launched, milliseconds by CUDA events) of one call, after a warm-up."""
    fn(x), fn(x)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        fn(x)
        torch.cuda.synchronize()
    count = sum(1 for e in profiler.events() if e.device_type == torch.autograd.DeviceType.CUDA)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(50):
        fn(x)
    end.record()
    torch.cuda.synchronize()
    return count, begin.elapsed_time(end) / 50


triton = importlib.util.find_spec("triton") is not None
if needs("short kernels before and after compile", also=triton, why="torch.compile needs triton on a GPU"):
    torch._dynamo.reset()
    for shape in ((256, 256), (4096, 4096)):
        x = torch.randn(*shape, device="cuda")
        before, after = kernels_of(pointwise, x), kernels_of(torch.compile(pointwise, dynamic=False), x)
        print(f"{shape}: {before[0]} kernels in {before[1]:.3f} ms; compiled {after[0]} in {after[1]:.3f} ms")
        assert after[0] < before[0]

    def product(a):  # the control: one long kernel, nothing to fuse
        return a @ a

    a = torch.randn(2048, 2048, device="cuda")
    before, after = (kernels_of(fn, a)[0] for fn in (product, torch.compile(product, dynamic=False)))
    print(f"one matrix product: {before} kernels; compiled {after}")
    assert 0 < before <= after

# %% [markdown]
# ## 3 · Collectives
#
# **Claim 8.12.** `TORCH_NCCL_ASYNC_ERROR_HANDLING` tears a job down when the watchdog has detected an error; it
# prevents no hang by itself. Flight-recorder dumps need their buffer and their dump settings.
# `NCCL_DEBUG=INFO` logs.
#
# | Variable | What it sets |
# |---|---|
# | `NCCL_DEBUG` | NCCL's own log: `WARN`, `INFO`, ... |
# | `TORCH_NCCL_ASYNC_ERROR_HANDLING` | after a watchdog error: 0 nothing, 1 abort communicators and tear down, 2 abort only, 3 tear down only (default) |
# | `TORCH_NCCL_BLOCKING_WAIT` | `wait()` blocks until the timeout and raises |
# | `TORCH_FR_BUFFER_SIZE` | events in the flight recorder's ring buffer; 0 turns it off |
# | `TORCH_NCCL_DUMP_ON_TIMEOUT` | write the buffer to a file when the watchdog times out |
# | `TORCH_FR_DUMP_TEMP_FILE` | where to: this prefix and the rank |
# | `TORCH_NCCL_ENABLE_MONITORING` | a thread that ends the process when the watchdog itself hangs |
# | `TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC` | after how long |
# | `TORCH_NCCL_DESYNC_DEBUG` | report which rank fell behind |
# | `TORCH_DISTRIBUTED_DEBUG` | `INFO`, `DETAIL`: checks of every collective (see notebook 08) |
#
# A misspelt variable is silently ignored, so the next cell looks each one up in the installed torch: in its
# headers, its Python sources and its libraries.

# %% tags=["gpu", "claim-8.12"]
HOME = Path(torch.__file__).parent


def in_sources(names, folder, suffixes):
    """Which of some names stand in text files of a folder."""
    found = set()
    for path in (p for p in folder.rglob("*") if p.suffix in suffixes):
        text = path.read_text(encoding="utf-8", errors="ignore")
        found |= {name for name in names if re.search(rf"\b{name}\b", text)}
    return found


def in_libraries(names):
    """Which of some names stand in torch's shared libraries, as whole strings."""
    found = set()
    for path in (HOME / "lib").glob("libtorch_c*"):
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found |= {name for name in names - found if data.find(b"\0" + name.encode() + b"\0") >= 0}
    return found


variables = {
    "NCCL_DEBUG", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_BLOCKING_WAIT", "TORCH_FR_BUFFER_SIZE",
    "TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_ENABLE_MONITORING",
    "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "TORCH_NCCL_DESYNC_DEBUG", "TORCH_DISTRIBUTED_DEBUG",
}  # fmt: skip
misspelt = {"TORCH_NCCL_ASYNC_ERROR_HANDLER", "TORCH_FLIGHT_RECORDER_SIZE"}  # the control

headers = HOME / "include/torch/csrc/distributed/c10d"
everywhere = in_sources(variables | misspelt, headers, {".h", ".hpp"}) if headers.exists() else set()
everywhere |= in_sources(variables | misspelt, HOME / "distributed", {".py"})
everywhere |= in_libraries((variables | misspelt) - everywhere)

for name in sorted(variables):
    print(f"{name:34} known to this torch: {name in everywhere}")
print("misspelt ones found:", len(misspelt & everywhere))
assert not misspelt & everywhere
# a build without NCCL may come without its headers; the rest must be there in every build
with_nccl = (headers / "ProcessGroupNCCL.hpp").exists() or torch.distributed.is_nccl_available()
assert variables <= everywhere or (not with_nccl and {"TORCH_DISTRIBUTED_DEBUG", "TORCH_FR_BUFFER_SIZE"} <= everywhere)

# %% [markdown]
# The header also says which values tear down, and which names are only kept for old scripts. Forms without
# `TORCH_` still work where they are listed second, with a warning that they are deprecated.

# %% tags=["gpu", "claim-8.12"]
header = headers / "ProcessGroupNCCL.hpp"
if header.exists():
    text = header.read_text()
    modes = dict(re.findall(r"(\w+) = (\d)", text.split("enum ErrorHandlingMode {")[1].split("}")[0]))
    spared = re.search(r"define SHOULD_TEAR_DOWN\(a\) (.+)", text)[1]
    tears_down = {mode: mode not in spared for mode in modes}
    for mode, number in modes.items():
        print(f"TORCH_NCCL_ASYNC_ERROR_HANDLING={number} {mode:12} tears the process down: {tears_down[mode]}")
    default = re.search(r"default value \((\d)", text)
    print("the default:", default[1] if default else "not said in this header")
    old = re.findall(r'"(TORCH_NCCL_\w+)",\s*"(NCCL_\w+)"', text)
    print("deprecated forms:", sorted(short for _, short in old))
    assert tears_down == {"NoHandling": False, "TearDown": True, "CleanUpOnly": False, "SkipCleanUp": True}
    assert ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING") in old
    assert not any(short == "NCCL_DEBUG" for _, short in old)  # the control: NCCL's own names are not torch's
else:
    print("skipped: this build comes without the NCCL header")

# %% [markdown]
# That a dump needs its buffer can be shown without a device: gloo fills the same recorder. Each process below
# runs one collective with itself; the variable is read once, so each setting gets a process of its own. Files
# are read with `torchfrtrace`, a command that comes with torch.

# %% tags=["gpu", "claim-8.12"]
RECORDER = '''
import pickle, tempfile, torch, torch.distributed as dist
with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", 1), rank=0, world_size=1)
    dist.all_reduce(torch.ones(3))
    dump = getattr(torch._C._distributed_c10d, "_dump_fr_trace", None)
    print("none" if dump is None else len(pickle.loads(dump(includeStackTraces=False)).get("entries", ())))
'''


def run(script, seconds=120, **variables):
    """stdout and stderr of a Python script run with these environment variables."""
    interface = {"GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {}
    env = {**os.environ, "OMP_NUM_THREADS": "1", **interface, **variables}
    return subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=seconds)


def command(name):
    """Path of a command that came with this Python, or None."""
    return shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


print("module torch.distributed.flight_recorder:", (HOME / "distributed/flight_recorder").is_dir())
print("command torchfrtrace:", command("torchfrtrace") is not None)
counts = {}
if torch.distributed.is_gloo_available() and hasattr(torch._C._distributed_c10d, "_dump_fr_trace"):
    for setting in ({}, {"TORCH_FR_BUFFER_SIZE": "0"}):
        done = run(RECORDER, **setting)
        counts[str(setting or "default")] = done.stdout.strip() or done.stderr[-500:]
    print("events recorded:", counts)
    assert list(counts.values()) == ["1", "0"]
else:
    print("skipped: this build offers no flight recorder outside NCCL")
assert (HOME / "distributed/flight_recorder").is_dir() and command("torchfrtrace")

# %% [markdown]
# On one device, `NCCL_DEBUG=INFO` can be heard. On two, rank 1 leaves out a collective: rank 0 hangs until the
# watchdog's timeout of ten seconds; then error handling tears it down, and the recorder's file is there to read.

# %% tags=["gpu", "claim-8.12"]
ONE_RANK = '''
import os, tempfile, torch, torch.distributed as dist
with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("nccl", store=dist.FileStore(f"{folder}/store", 1), rank=0, world_size=1)
    dist.all_reduce(torch.ones(3, device="cuda"))
    torch.cuda.synchronize()
    dist.destroy_process_group()
'''
nccl = torch.distributed.is_available() and torch.distributed.is_nccl_available()
if needs("NCCL's own log", also=nccl, why="this build has no NCCL"):
    loud, quiet = (run(ONE_RANK, NCCL_DEBUG=level) for level in ("INFO", "WARN"))
    print("NCCL INFO lines with INFO:", "NCCL INFO" in loud.stdout + loud.stderr)
    print("NCCL INFO lines with WARN:", "NCCL INFO" in quiet.stdout + quiet.stderr)
    assert "NCCL INFO" in loud.stdout + loud.stderr and "NCCL INFO" not in quiet.stdout + quiet.stderr

# %% tags=["gpu", "claim-8.12"]
HANG = '''
import datetime, sys, time, torch, torch.distributed as dist
rank, store = int(sys.argv[1]), sys.argv[2]
torch.cuda.set_device(rank)
dist.init_process_group("nccl", store=dist.FileStore(store, 2), rank=rank, world_size=2,
                        timeout=datetime.timedelta(seconds=10))
x = torch.ones(4, device="cuda")
dist.all_reduce(x)
torch.cuda.synchronize()
if rank == 0:
    dist.all_reduce(x)
    torch.cuda.synchronize()
else:
    time.sleep(90)
'''
if needs("a hang on two devices, ended by the watchdog and dumped", devices=2, also=nccl, why="this build has no NCCL"):
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "TORCH_FR_BUFFER_SIZE": "2000",
            "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
            "TORCH_FR_DUMP_TEMP_FILE": f"{folder}/rank_",
        }
        ranks = [
            subprocess.Popen([sys.executable, "-c", HANG, str(rank), f"{folder}/store"], env={**os.environ, **settings},
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for rank in (0, 1)
        ]  # fmt: skip
        start = time.monotonic()
        try:
            ranks[0].communicate(timeout=80)
        finally:
            for process in ranks:
                process.kill()
                process.wait()
        waited = time.monotonic() - start
        dumps = sorted(p.name for p in Path(folder).glob("rank_*"))
        print(f"rank 0 ended with status {ranks[0].returncode} after {waited:.0f} s; dumps: {dumps}")
        last = pickle.loads((Path(folder) / "rank_0").read_bytes())["entries"][-1]
        print({key: last[key] for key in ("profiling_name", "collective_seq_id", "input_sizes", "state")})
        assert ranks[0].returncode != 0 and waited > 10  # torn down, and no earlier than the timeout
        assert "rank_0" in dumps and "all_reduce" in last["profiling_name"]

# %% [markdown]
# ## What ran here

# %% tags=["gpu"]
print(f"ran on a device: {len(RAN)}")
for what in RAN:
    print("  ran:", what)
print(f"left out: {len(SKIPPED)}")
for what in SKIPPED:
    print("  left out:", what)
assert bool(RAN) == bool(DEVICES) and RAN + SKIPPED
