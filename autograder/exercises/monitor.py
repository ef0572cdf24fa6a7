"""5.6: watch a run through hooks on sampled steps, and leave no hook behind however it ends."""

from __future__ import annotations

import copy
import math
import random
from typing import Any, Iterator

import torch
from torch import nn

from ..probes import Tripwire
from ..result import Case, Verdict
from ..wire import NumpyScalar
from .base import Exercise, describe, right, wrong


def expected_run(model: nn.Module, batches: list, every: int, planted: int) -> dict[str, Any]:
    """What an honest monitor records: the judge's own run on a copy of the model."""
    model = copy.deepcopy(model)
    modes = [m.training for m in model.modules()]
    leaves = {m: name for name, m in model.named_modules() if not list(m.children())}
    rows: list[tuple] = []
    for leaf, name in leaves.items():
        leaf.register_forward_hook(lambda m, a, out, name=name: rows.append((name, _largest(out))))
    records, sums, failed, raised = [], [], None, None
    with torch.no_grad():
        model(batches[0][1])  # the first batch is always a good one
    order = list(leaves.values())
    alive = sum(name == order[index % len(order)] for index in range(planted) for name, _ in rows)
    for index, (step, x) in enumerate(batches):
        rows.clear()
        sums.append(float(x.double().nan_to_num().sum()))
        try:
            with torch.no_grad():
                model(x)
        except (Exception, KeyboardInterrupt) as error:
            failed, raised = step, [type(error).__name__, str(error)]
        records += [(step, *row) for row in rows] if index % every == 0 else []
        if failed is not None:
            break
    return {
        "records": records,
        "sums": sums,
        "failed": failed,
        "raised": raised,
        "modes": modes,
        "alive": alive,
    }


def _largest(out: torch.Tensor) -> float:
    return float(out.double().abs().max())


def judge(case: Case, evidence: Any) -> Verdict:
    """How the run ended, then what hooks it left, then what it kept."""
    model, batches, every, planted = case.args
    truth = expected_run(model, batches, every, planted)
    if type(evidence) is not dict:
        return wrong(describe(evidence), "a run of your monitor", "run the check again from a fresh kernel")
    for test in (_ending, _forwards, _hooks, _kept):
        verdict = test(evidence, truth, every)
        if verdict is not None:
            return verdict
    return right(
        f"{len(truth['records'])} records, failed {evidence['failed']!r}, hooks {evidence['before']} "
        f"before and {evidence['after']} after"
    )


def _ending(evidence: dict, truth: dict, every: int) -> Verdict | None:
    if evidence["raised"] != truth["raised"]:
        seen = "no exception came out" if evidence["raised"] is None else ": ".join(evidence["raised"])
        want = (
            "no exception"
            if truth["raised"] is None
            else "the forward's own exception reaches the caller, unchanged"
        )
        return wrong(seen, want, "read your except and finally clauses: what do they let through?")
    if type(evidence["failed"]) is not type(truth["failed"]) or evidence["failed"] != truth["failed"]:
        return wrong(
            f'log["failed"] is {describe(evidence["failed"])}',
            "the id of the step whose forward did not return, whatever stopped it; None when every step "
            "returned",
            "which exceptions does your except clause catch? A stop button raises KeyboardInterrupt",
        )
    return None


def _forwards(evidence: dict, truth: dict, every: int) -> Verdict | None:
    sums = [row[0] for row in evidence["forwards"]]
    if len(sums) != len(truth["sums"]) or any(
        abs(a - b) > 1e-6 * (1 + abs(b)) for a, b in zip(sums, truth["sums"])
    ):
        return wrong(
            f"{len(sums)} forwards",
            "one forward for each batch in its order, until one raises; sampled or not",
            "count the calls of the model in one turn of your loop",
        )
    if evidence["modes"] != truth["modes"]:
        return wrong(
            "training flags changed",
            "the model's modes as they were",
            "a monitor watches; who called eval or train?",
        )
    return None


def _hooks(evidence: dict, truth: dict, every: int) -> Verdict | None:
    left = evidence["after"] - evidence["before"]
    if left > 0 or evidence["grown"]:
        return wrong(
            f"hooks before {evidence['before']}, after {evidence['after']}",
            "as many hooks after the run as before it, whether it ended well or not",
            "which line removes a handle, and does it run when the line above it raises?",
        )
    if left < 0 or evidence["alive"] != truth["alive"]:
        return wrong(
            f"hooks before {evidence['before']}, after {evidence['after']}",
            "hooks that others registered are still there",
            "remove your own handles and nothing else",
        )
    extra = [index for index, row in enumerate(evidence["forwards"]) if index % every and row[1] > 0]
    if extra:
        return wrong(
            f"{evidence['forwards'][extra[0]][1]} extra hooks during the step at position {extra[0]}",
            "hooks of yours on sampled steps alone; the others run bare",
            "when are the hooks registered, and when removed, in one turn of your loop?",
        )
    return None


def _kept(evidence: dict, truth: dict, every: int) -> Verdict | None:
    rows, want = evidence["records"], truth["records"]
    shape = 'log["records"]: a list of (step id, module name, largest magnitude), as (str, str, float)'
    if type(rows) is not list:
        return wrong(
            f'log["records"] is {describe(rows)}', shape, "compare the log with the docstring's example"
        )
    for row in rows:
        if type(row) is not tuple or [type(v) for v in row] != [str, str, float]:
            inner = [describe(v) for v in row] if type(row) is tuple else describe(row)
            kind = (
                "a numpy scalar in a row"
                if any(isinstance(v, NumpyScalar) for v in row or ())
                else str(inner)
            )
            return wrong(kind, shape, "store numbers, not tensors: a kept tensor keeps its graph")
    if [row[:2] for row in rows] != [row[:2] for row in want]:
        return wrong(
            f"{len(rows)} records: {_head(rows)}",
            f"{shape}; one for each call of a module without children, on the sampled steps, in order of the "
            "calls; those made before a failure stay",
            "compare your first rows with a print inside the forward; which positions are sampled?",
        )
    for row, truth_row in zip(rows, want):
        if not _close(row[2], truth_row[2]):
            return wrong(
                f"{row[0]}, module {row[1]!r}: {row[2]:.6g}",
                "the largest magnitude in that module's output; nan if a nan is in it",
                "magnitude: what about the sign? And what do max functions do with nan?",
            )
    return None


def _close(a: float, b: float) -> bool:
    if math.isnan(b) or math.isinf(b):
        return math.isnan(a) if math.isnan(b) else a == b
    return abs(a - b) <= 1e-4 * abs(b) + 1e-6


def _head(rows: list) -> str:
    return ", ".join(f"({r[0]}, {r[1]!r})" for r in rows[:4]) + (" ..." if len(rows) > 4 else "")


def _mlp(g: torch.Generator, wire: nn.Module | None = None, width: int = 5) -> nn.Sequential:
    layers = [nn.Linear(4, width), nn.Tanh(), wire or nn.Identity(), nn.Linear(width, 3)]
    return _drawn(nn.Sequential(*layers), g)


def _drawn(model: nn.Module, g: torch.Generator) -> nn.Module:
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=g))
    return model


def _batches(g: torch.Generator, rng: random.Random, count: int, shape: tuple = (3, 4)) -> list:
    first = rng.randint(10, 900)
    return [(f"step-{first + 7 * i}", torch.randn(shape, generator=g)) for i in range(count)]


def _public() -> Iterator[Case]:
    g, rng = torch.Generator().manual_seed(56), random.Random(56)
    yield Case("five steps, every second one sampled", (_mlp(g), _batches(g, rng, 5), 2, 1))
    batches = _batches(g, rng, 5)
    batches[2][1][0, 0] = math.nan
    yield Case(
        "a forward that raises on a sampled step", (_mlp(g, Tripwire("NaN before layer 3")), batches, 2, 0)
    )
    batches = _batches(g, rng, 4)
    batches[1][1][0, 0] = math.nan
    yield Case(
        "a forward that raises between samples", (_mlp(g, Tripwire("NaN before layer 3")), batches, 3, 0)
    )


def _hidden(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    every = rng.randint(2, 4)
    yield Case("a longer run", (_mlp(g).eval(), _batches(g, rng, 3 * every + 1), every, rng.randint(1, 6)))
    yield Case("every step sampled", (_mlp(g), _batches(g, rng, 3), 1, 0))
    for name, at, interrupt in (
        ("stopped by an error on a sampled step", 2 * every, False),
        ("stopped by an error between samples", every + 1, False),
        ("stopped by hand on a sampled step", every, True),
        ("stopped by hand between samples", every + 1, True),
    ):
        wire = Tripwire(f"NaN seen, ticket {rng.randint(1000, 9999)}", interrupt)
        batches = _batches(g, rng, 2 * every + 2)
        batches[at][1][0, rng.randrange(4)] = math.nan
        yield Case(name, (_mlp(g, wire), batches, every, rng.randint(1, 4)))
    batches = _batches(g, rng, 4)
    batches[2] = (batches[2][0], torch.randn(3, 6, generator=g))
    yield Case("a batch of another width", (_mlp(g), batches, 2, 1))
    batches = _batches(g, rng, 3)
    batches[2][1][1, 1] = math.nan
    yield Case("a NaN that nothing stops", (_mlp(g), batches, 2, 2))
    act = nn.ReLU()
    shared = _drawn(nn.Sequential(nn.Linear(4, 6), act, nn.Linear(6, 4), act), g)
    yield Case("one module called twice", (shared, _batches(g, rng, 3), 2, 3))
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    deep = _drawn(nn.Sequential(nn.Linear(4, 4), layer, nn.Linear(4, 2)), g)
    yield Case("modules inside modules", (deep, _batches(g, rng, 3, (2, 3, 4)), 2, 2))
    yield Case("a model that is one layer", (_drawn(nn.Linear(4, 2), g), _batches(g, rng, 3), 2, 1))
    yield Case("a single step", (_mlp(g), _batches(g, rng, 1), 2, 1))


EXERCISES = (
    Exercise(
        id="5.6",
        title="A monitor that cleans up",
        answer="watch",
        points=4,
        minutes=10,
        level="stretch",
        claims=("5.6",),
        hints=(
            "Count the hooks: sum(len(m._forward_hooks) for m in model.modules()) before your run, after a "
            "good one and after one that raised. When does the count stay up?",
            "Write down, for one sampled step, every line on which an exception can leave the loop. Which "
            "of your lines still run then, and which kind of clause runs for KeyboardInterrupt too?",
            "Print position, step id and the number of hooks at the top of each turn of the loop; compare "
            "it with position % every. Then do the same with the list of rows that you keep.",
        ),
        public=_public,
        hidden=_hidden,
        judge=judge,
        kind="probe",
        probe="watched_run",
    ),
)
