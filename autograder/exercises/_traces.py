"""Traces for exercise 8.9, made in the shape that torch's profiler writes."""

from __future__ import annotations

import random
from typing import Callable, Iterable

# An operator: (name, own microseconds, operators and annotations inside). An annotation
# has None for its own time: what runs in it is what takes the time.
Node = tuple
QUICK = ("aten::as_strided", "aten::expand", "aten::empty", "aten::resolve_conj", "aten::view")
HEAVY = ("aten::addmm", "aten::bmm", "aten::mkldnn_convolution", "aten::_softmax", "aten::native_layer_norm",
         "aten::gelu", "aten::bernoulli_", "aten::index_select", "aten::copy_", "aten::sort")  # fmt: skip
WRAPPERS = ("aten::linear", "aten::scaled_dot_product_attention", "aten::conv2d", "aten::layer_norm",
            "aten::dropout", "aten::embedding")  # fmt: skip


class Build:
    """Events of one trace, written while a clock runs.

    rng: draws lengths. python: also write frames of Python functions, as with_stack=True does.
    """

    def __init__(self, rng: random.Random, python: bool) -> None:
        self.rng, self.python = rng, python
        self.pid = rng.randint(2_000, 60_000)
        self.tid = self.pid
        self.first = self.now = 5_239_988_000_000.0 + rng.randint(0, 10**9) / 1000
        self.events: list[dict] = [
            self._meta("process_name", {"name": "python"}, 0),
            self._meta("thread_name", {"name": f"thread {self.tid} (python)"}, self.tid),
        ]

    def step(self, number: int, nodes: list[Node], stall: str) -> None:
        """One optimizer step: loading, forward, backward and update, with a stall of a kind or none."""
        work = sum(_length(node) for node in nodes)
        step = _Span(self, "user_annotation", f"ProfilerStep#{number}")
        with step, _Frame(self, "train.py(24): train_one_step"):
            self._load(stall, work)
            cut = self.rng.randint(1, len(nodes))
            with _Span(self, "user_annotation", "forward"), _Frame(self, "train.py(31): forward"):
                self.play(nodes[:cut])
            self._pause(20, 40)
            if stall == "split":
                self._idle(0.25 * work)
            with _Span(self, "user_annotation", "backward"), _Frame(self, "torch/_tensor.py(612): backward"):
                self.play([_backward(node) for node in nodes[cut:]] or [_op(self.rng, "AddmmBackward0")])
            self._pause(5, 40)
            with _Span(self, "user_annotation", "Optimizer.step#SGD.step"):
                self.play([_op(self.rng, "aten::add_") for _ in range(3)])
            if stall == "bare":
                self._idle(0.6 * work)
            self._pause(2, 20)
        self._pause(1, 4)

    def _load(self, stall: str, work: float) -> None:
        if stall in ("", "bare"):
            with _Span(self, "user_annotation", "load_batch"):
                self._pause(5, 15)
                self.play([_op(self.rng, "aten::stack")])
            return
        name = self.rng.choice(["load_batch", "next(loader)", "enumerate(loader)"])
        with _Span(self, "user_annotation", name):
            self._pause(2, 9)
            self.play([_op(self.rng, "aten::empty")])
            if stall == "nested":
                with _Span(self, "user_annotation", self.rng.choice(["decode", "read_file", "tokenize"])):
                    self._idle(0.9 * work)
                self.play([_op(self.rng, "aten::stack")])
            elif stall == "split":
                for share in self.rng.sample([0.2, 0.25, 0.6], 3):
                    self._idle(share * work)
                    self.play([_op(self.rng, "aten::stack")])
            else:
                self._idle((0.3 if stall == "short" else 0.8) * work)

    def close(self, thread: bool) -> None:
        """What surrounds the steps: the profiler's own span, flows, instants, and another thread."""
        whole = self.now - self.first
        profiler = ("Spans", "PyTorch Profiler")
        self._write("Trace", "PyTorch Profiler (0)", self.first - 80, whole + 160, *profiler)
        self.events.append(self._instant("Record Window End", self.now + 90))
        for number, event in enumerate([e for e in self.events if e.get("cat") == "cpu_op"][:6]):
            flow = {"id": number, "pid": self.pid, "tid": self.tid, "ts": event["ts"]}
            self.events.append({"ph": "s" if number % 2 else "f", **flow, "cat": "fwdbwd", "name": "fwdbwd"})
        if thread:
            other, at = self.tid + 7, self.first - 40
            while at < self.now:
                length = self.rng.uniform(0.1, 0.2) * whole
                self._write("user_annotation", "fill_queue", at, length, self.pid, other)
                self._write("cpu_op", "aten::to", at + 1, length - 2, self.pid, other)
                at += length + 1

    def play(self, nodes: Iterable[Node]) -> None:
        """Write operators one after the other; their own time lies before, between and after those inside."""
        for name, own, inside in nodes:
            if own is None:
                with _Span(self, "user_annotation", name):
                    self.play(inside)
                continue
            with _Span(self, "cpu_op", name):
                parts = _split(self.rng, own, len(inside) + 1, name.endswith("_tail"))
                for part, node in zip(parts, [*inside, None]):
                    self.now += part
                    if node:
                        self.play([node])
            self._pause(0.5, 5)

    def _idle(self, length: float) -> None:
        self.now += length * self.rng.uniform(0.95, 1.05)

    def _pause(self, low: float, high: float) -> None:
        self.now += self.rng.uniform(low, high)

    def _write(self, cat: str, name: str, ts: float, dur: float, pid: object, tid: object) -> None:
        extra = {"External id": len(self.events), "Ev Idx": len(self.events)}
        event = {"ph": "X", "cat": cat, "name": name.removesuffix("_tail"), "pid": pid, "tid": tid}
        self.events.append({**event, "ts": round(ts, 3), "dur": round(dur, 3), "args": extra})

    def _meta(self, name: str, args: dict, tid: int) -> dict:
        ts = round(self.first - 90, 3)
        return {"ph": "M", "name": name, "ts": ts, "pid": self.pid, "tid": tid, "args": args}

    def _instant(self, name: str, ts: float) -> dict:
        return {"ph": "i", "s": "g", "name": name, "ts": round(ts, 3), "pid": "", "tid": ""}


class _Span:
    """A complete event around what is played inside; it stands before them in the list, as in real traces."""

    def __init__(self, build: Build, cat: str, name: str) -> None:
        self.build, self.cat, self.name = build, cat, name

    def __enter__(self) -> None:
        self.place, self.start = len(self.build.events), self.build.now
        self.build.now += 0.4

    def __exit__(self, *error: object) -> None:
        build = self.build
        build.now += 0.4
        build._write(self.cat, self.name, self.start, build.now - self.start, build.pid, build.tid)
        build.events.insert(self.place, build.events.pop())


class _Frame(_Span):
    """A Python function's frame, written only in traces with stacks."""

    def __init__(self, build: Build, name: str) -> None:
        super().__init__(build, "python_function", name)

    def __exit__(self, *error: object) -> None:
        if self.build.python:
            super().__exit__(*error)


def _op(
    rng: random.Random, name: str, own: tuple[float, float] = (1, 6), inside: list[Node] | None = None
) -> Node:
    """An operator whose own time is drawn between two bounds; left alone it holds one quick operator."""
    if inside is None:
        inside = [(rng.choice(QUICK), rng.uniform(0.5, 2), [])]
    return (name, rng.uniform(*own), inside)


def _length(node: Node) -> float:
    return (node[1] or 0) + sum(_length(child) for child in node[2])


def _backward(node: Node) -> Node:
    """The same work as autograd's engine shows it: two wrappers around the operators."""
    name = node[0].rpartition("::")[2].strip("_").capitalize() + "Backward0"
    return (f"autograd::engine::evaluate_function: {name}", 6.0, [(name, 3.0, [node])])


def _split(rng: random.Random, own: float, count: int, tail: bool) -> list[float]:
    weights = [rng.uniform(0.5, 1.5) for _ in range(count)]
    if tail:
        weights[-1] = 12.0
    return [own * w / sum(weights) for w in weights]


def _plain(rng: random.Random) -> list[Node]:
    """A wrapper holds two costly operators; another one alone costs more than either."""
    hot, second, third = rng.sample(HEAVY, 3)
    outer, inner = rng.sample(WRAPPERS, 2)
    pair = [_op(rng, second, (290, 320)), _op(rng, third, (240, 270))]
    nodes = [_op(rng, outer, (3, 9), pair), _op(rng, inner, (3, 9), [_op(rng, hot, (400, 450))])]
    return nodes + [_op(rng, rng.choice(QUICK)) for _ in range(12)]


def _parent(rng: random.Random) -> list[Node]:
    """The costly operator holds another costly one, and a wrapper holds both."""
    hot, second = rng.sample(HEAVY, 2)
    return [
        _op(rng, rng.choice(WRAPPERS), (5, 9), [_op(rng, hot, (420, 460), [_op(rng, second, (280, 330))])]),
        *[_op(rng, rng.choice(QUICK)) for _ in range(10)],
    ]


def _recursive(rng: random.Random) -> list[Node]:
    """An operator that calls itself by name counts twice when inclusive times are added."""
    hot, twice = rng.sample(HEAVY, 2)
    inner = _op(rng, twice, (150, 170), [_op(rng, "aten::sum", (60, 80))])
    return [
        _op(rng, "aten::mean", (4, 8), [_op(rng, twice, (90, 100), [inner])]),
        _op(rng, rng.choice(WRAPPERS), (4, 8), [_op(rng, hot, (330, 360))]),
        _op(rng, "aten::fill_"),
    ]


def _frequent(rng: random.Random) -> list[Node]:
    """Many calls add up to more than one long call."""
    hot, single = rng.sample(HEAVY, 2)
    nodes = [_op(rng, rng.choice(WRAPPERS), (3, 8), [_op(rng, single, (430, 470))])]
    nodes += [_op(rng, hot, (28, 34)) for _ in range(22)]
    return rng.sample(nodes, len(nodes))


def _crowd(rng: random.Random) -> list[Node]:
    """Very many calls that add up to little beside a few long ones."""
    hot, *cheap = rng.sample(HEAVY, 3)
    nodes = [_op(rng, rng.choice(WRAPPERS), (3, 8), [_op(rng, hot, (150, 170))]) for _ in range(3)]
    nodes += [_op(rng, name, (3, 6), []) for name in cheap for _ in range(25)]
    return rng.sample(nodes, len(nodes))


def _tail(rng: random.Random) -> list[Node]:
    """Most of the own time comes after short operators inside: not a gap, since the outer one still runs."""
    hot, second = rng.sample(HEAVY, 2)
    inside = [(rng.choice(QUICK), rng.uniform(1, 3), []) for _ in range(3)]
    return [
        _op(rng, rng.choice(WRAPPERS), (3, 8), [(f"{hot}_tail", rng.uniform(500, 560), inside)]),
        _op(rng, rng.choice(WRAPPERS), (3, 8), [_op(rng, second, (350, 390)), _op(rng, second, (20, 30))]),
        *[_op(rng, rng.choice(QUICK)) for _ in range(8)],
    ]


def _annotated(rng: random.Random) -> list[Node]:
    """A costly operator of one's own, with an annotation inside that holds other operators."""
    hot, second = rng.sample(HEAVY, 2)
    note = ("my_kernel.prepare", None, [_op(rng, second, (260, 290)), _op(rng, second, (60, 80))])
    outer = _op(rng, "MyFunction", (3, 8), [_op(rng, hot, (430, 480), [note])])
    return [outer, *[_op(rng, "aten::view") for _ in range(9)]]


SHAPES: dict[str, Callable[[random.Random], list[Node]]] = {
    "": _plain, "parent": _parent, "recursive": _recursive, "frequent": _frequent,
    "crowd": _crowd, "tail": _tail, "annotated": _annotated,
}  # fmt: skip


def touching(rng: random.Random) -> list[dict]:
    """Three steps in whole microseconds, each of 1,000: whatever ends does so where the next thing starts.

    The first step ends with a pause of exactly a tenth; the others are full. An operator and the one that it
    calls first start together.
    """
    pid, first = rng.randint(2_000, 60_000), 5_239_988_000_000.0 + rng.randint(0, 10**6)
    outer, hot, second, third = rng.sample(WRAPPERS, 1) + rng.sample(HEAVY, 3)
    events = []

    def write(cat: str, name: str, start: int, length: int) -> None:
        where = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": pid}
        events.append({**where, "ts": first + start, "dur": float(length)})

    for number in range(3):
        at = 1000 * number
        write("user_annotation", f"ProfilerStep#{number + 2}", at, 1000)
        write("cpu_op", outer, at, 600)
        write("cpu_op", hot, at, 350)
        write("cpu_op", second, at + 350, 200)
        write("cpu_op", third, at + 600, 300)
        if number:
            write("cpu_op", second, at + 900, 100)
        else:
            write("user_annotation", "next(loader)", at + 880, 120)
    return events
