"""Exercise 8.9: the operator that costs most itself, and the longest stall, in a profiler's trace."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any, Iterator

from ..result import Case, Verdict
from ._traces import SHAPES, Build, touching
from .base import Exercise, describe, right, wrong

KEYS = ("operator", "self_us", "stall_us", "during")
CLOSE_US = 1.0  # time stamps of 5e12 microseconds leave about a nanosecond of each float
STALL = 0.10  # of the step it lies in


def public() -> Iterator[Case]:
    rng = random.Random(89)
    yield _case("a small network whose loader is slow", rng, stall="note")
    yield _case("the same network with nothing to wait for", rng, stall="")
    yield _case("a data-loading thread beside the training thread", rng, stall="note", thread=True)


def hidden(rng: random.Random) -> Iterator[Case]:
    yield _case("events in no order", rng, stall="note", shuffle=True)
    yield _case("an operator that contains other costly ones", rng, stall="note", shape="parent")
    yield _case("an operator that calls itself", rng, stall="nested", shape="recursive")
    yield _case("one long call among many short ones", rng, stall="note", shape="frequent")
    yield _case("cheap operators called very often", rng, stall="note", shape="crowd")
    yield _case("an operator that goes on after the ones that it called", rng, stall="", shape="tail")
    yield _case("a stall with nothing written around it", rng, stall="bare")
    yield _case("ranges inside ranges", rng, stall="nested", thread=True)
    yield _case("busy ranges that last longer than the pause", rng, stall="short")
    yield _case("several pauses in one step", rng, stall="split", shuffle=True)
    yield _case("a loading thread that is never idle", rng, stall="bare", thread=True, shuffle=True)
    yield _case("a loading thread and no pause", rng, stall="", thread=True)
    yield _case("a trace with Python frames", rng, stall="note", python=True)
    yield _case("an annotation inside an operator", rng, stall="", shape="annotated", python=True)
    yield Case("events that touch, and a pause of exactly a tenth", (touching(rng),))


def _case(name: str, rng: random.Random, stall: str, shape: str = "", thread: bool = False,
          python: bool = False, shuffle: bool = False) -> Case:  # fmt: skip
    """A trace: its steps hold operators of a shape, and one of them the stall.

    stall: "" none, "note" in an annotation, "nested" in two, "bare" in none, "short" in
    one that is shorter than other annotations, "split" the longest of several.
    """
    build = Build(rng, python)
    pools = SHAPES[shape](rng)
    steps = 3
    at = rng.randrange(steps)
    for number in range(steps):
        build.step(number + 2, pools, stall if number == at else "")
    build.close(thread)
    if shuffle:
        rng.shuffle(build.events)
    return Case(name, (build.events,))


def measure(events: list[dict]) -> dict:
    """What a trace says, by the docstring's definitions; also the rivals that `judge` explains.

    Returns: "self", "total", "count" by operator name, "stall" as (name or None, us), "steps".
    """
    spans = [e for e in events if e.get("ph") == "X"]
    steps = [e for e in spans if e["cat"] == "user_annotation" and e["name"].startswith("ProfilerStep#")]
    thread = (steps[0]["pid"], steps[0]["tid"])
    own = [e for e in spans if (e["pid"], e["tid"]) == thread]
    ops = sorted((e for e in own if e["cat"] == "cpu_op"), key=lambda e: (e["ts"], -e["dur"]))
    notes = [e for e in own if e["cat"] == "user_annotation" and e not in steps]
    return {**_times(ops), "stall": _stall(steps, ops, notes)}


def _times(ops: list[dict]) -> dict:
    own, total, count = defaultdict(float), defaultdict(float), Counter()
    stack: list[dict] = []
    for op in ops:
        while stack and _end(stack[-1]) <= op["ts"]:
            stack.pop()
        own[op["name"]] += op["dur"]
        total[op["name"]] += op["dur"]
        count[op["name"]] += 1
        if stack:
            own[stack[-1]["name"]] -= op["dur"]
        stack.append(op)
    return {"self": dict(own), "total": dict(total), "count": dict(count)}


def _stall(steps: list[dict], ops: list[dict], notes: list[dict]) -> tuple[str | None, float]:
    longest, start, step_us = 0.0, 0.0, 1.0
    for step in steps:
        busy = step["ts"]
        inside = [(o["ts"], _end(o)) for o in ops if step["ts"] <= o["ts"] < _end(step)]
        for begin, end in [*inside, (_end(step), _end(step))]:
            if begin - busy > longest:
                longest, start, step_us = begin - busy, busy, step["dur"]
            busy = max(busy, end)
    if longest < STALL * step_us:
        return None, 0.0
    middle = start + longest / 2
    around = [n for n in notes if n["ts"] <= middle < _end(n)]
    return (min(around, key=lambda n: n["dur"])["name"] if around else None), longest


def _end(event: dict) -> float:
    return event["ts"] + event["dur"]


def judge(case: Case, answer: Any) -> Verdict:
    if type(answer) is not dict or set(answer) != set(KEYS):
        return wrong(describe(answer), f"a dict with the keys {', '.join(KEYS)}", "look at the docstring")
    for key in ("self_us", "stall_us"):
        if type(answer[key]) not in (int, float):
            return wrong(f"{key}: {describe(answer[key])}", "a plain Python number of microseconds",
                         "float(...) makes one of a numpy or torch scalar")  # fmt: skip
    if type(answer["operator"]) is not str or type(answer["during"]) not in (str, type(None)):
        names = f"operator: {describe(answer['operator'])}, during: {describe(answer['during'])}"
        return wrong(names, "names as they stand in the trace; during may be None", "look at the docstring")
    found = measure(case.args[0])
    return _judge_operator(answer, found) or _judge_stall(answer, found) or right(
        f"{answer['operator']} with {answer['self_us']:.0f} us of its own, {_told(answer)}"
    )


def _judge_operator(answer: dict, found: dict) -> Verdict | None:
    name, truth = answer["operator"], max(found["self"], key=found["self"].get)
    if name != truth:
        rivals = {key: max(found[key], key=found[key].get) for key in ("total", "count")}
        look = _RIVAL[next((key for key, rival in rivals.items() if rival == name), "other")]
        look = _RIVAL["thread"] if name not in found["self"] else look
        return wrong(f"operator {name!r}", "the operator with the most self time on the step's thread", look)
    if not abs(answer["self_us"] - found["self"][truth]) <= CLOSE_US:
        return wrong(
            f"{name!r} with {answer['self_us']!r} us",
            "its self time in microseconds, summed over all its calls in the trace",
            "subtract only operators directly inside, each once; annotations are no operators",
        )
    return None


def _judge_stall(answer: dict, found: dict) -> Verdict | None:
    name, length = found["stall"]
    if not abs(answer["stall_us"] - length) <= (CLOSE_US if length else 0.0):
        look = "a gap opens where the latest end so far lies before the next start"
        if not length:
            look = "is your gap a tenth of its step, and does really no operator run in it?"
        elif answer["stall_us"] == 0:
            look = "the start of a step and its end bound gaps too, and other threads don't fill them"
        wanted = "the longest single gap in a step; 0.0 if shorter than a tenth of it"
        return wrong(_told(answer), wanted, look)
    if answer["during"] != name:
        return wrong(
            f"{_told(answer)}, during {answer['during']!r}",
            "the innermost annotation open at the gap's middle, steps apart; None without one",
            "compare the middle of the gap with start and end of each annotation of that thread",
        )
    return None


def _told(answer: dict) -> str:
    return f"a stall of {answer['stall_us']!r} us" if answer["stall_us"] else "no stall"


_RIVAL = {
    "total": "most inclusive time: that holds the time of the operators inside too",
    "count": "called most often, but each call may be short",
    "thread": "is that a cpu_op on the thread that carries the ProfilerStep ranges?",
    "other": "sum the self times by name; the longest single call decides nothing",
}

EXERCISES = (
    Exercise(
        id="8.9",
        title="Where did the time go?",
        answer="hot_spots",
        points=3,
        minutes=8,
        level="stretch",
        claims=("8.9", "8.8"),
        hints=(
            "Filter first: complete events (ph X) of one thread, split by cat: operators and annotations.",
            "Sort operators by start, the longer first; the top of a stack of open ones is the parent.",
            "For gaps walk that order with the latest end so far, from the step's start to the step's end.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
    ),
)
