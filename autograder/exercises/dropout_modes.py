"""7.3: a module whose randomness obeys eval(), and an evaluation loop that leaves no trace."""

from __future__ import annotations

import copy
import math
import random
from typing import Any, Iterator

import torch
from torch import Tensor, nn

from ..probes import Tripwire
from ..result import Case, Verdict
from .base import Exercise, describe, right, wrong


def quiet_output(state: dict[str, Tensor], x: Tensor) -> Tensor:
    """The module's output without randomness, written out: softmax(q k / sqrt(d)) v, then the last map."""
    q, k, v = (x @ state["qkv.weight"].T + state["qkv.bias"]).chunk(3, dim=-1)
    weight = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1)
    return weight @ v @ state["out.weight"].T


def judge_module(case: Case, seen: Any) -> Verdict:
    """Evaluation mode exact and repeatable; training mode as random as p says."""
    sizes, state, x, row = case.args
    outputs = [*seen["eval"], seen["again"], seen["inference"], *seen["train"], seen["train_inference"]]
    shapes = [x.shape] * 4 + [row.shape] * 3
    if not seen["kinds"] or any(not isinstance(o, Tensor) or o.shape != s for o, s in zip(outputs, shapes)):
        return wrong(describe(outputs[0]), "a tensor of the input's shape", "what does forward return?")
    truth = quiet_output(state, x)
    names = ("first call", "second call", "after a round of training", "under inference_mode")
    for name, output in zip(names, outputs[:4]):
        if not torch.allclose(output, truth, rtol=1e-4, atol=1e-5):
            again = "differ" if not torch.equal(*seen["eval"]) else "agree"
            gap = (output - truth).abs().max().item()
            return wrong(
                f"evaluation mode, {name}: off by {gap:.3g}; two calls {again}",
                "in evaluation mode the output without any dropout, every time",
                "which calls in forward draw random numbers, and which of them know of self.training?",
            )
    if not seen["tracks"]:
        return wrong(
            "in evaluation mode the output has no graph",
            "eval() leaves gradients alone",
            "the mode of a module and the recording of gradients are two switches",
        )
    return _training_mode(sizes["p"], quiet_output(state, row[:1]), seen)


def _training_mode(p: float, truth: Tensor, seen: Any) -> Verdict:
    """With one position the attention weight is 1: a row dies with chance p, then each entry with p."""
    kept = truth / (1 - p) ** 2
    want = f"in training mode both dropouts act, with p = {p:g}, under no_grad and inference_mode too"
    look = "does either call get another p, or none, while self.training is true?"
    first, second, inference = *seen["train"], seen["train_inference"]
    for output in (first, second, inference):
        alive = output != 0
        if not torch.allclose(output[alive], kept.expand_as(output)[alive], rtol=1e-3, atol=1e-5):
            return wrong("entries kept in training mode have the wrong size", want, look)
        rows, width = len(output), output.shape[-1]
        dead_row = p + (1 - p) * p**width
        for share, chance, what in (
            ((~alive).flatten(1).all(1).double().mean().item(), dead_row, "examples wholly zero"),
            ((~alive).double().mean().item(), 1 - (1 - p) ** 2, "entries zero"),
        ):
            # entries of one example die together, so the examples are what is counted
            if abs(share - chance) > 6.5 * math.sqrt(chance * (1 - chance) / rows):
                return wrong(f"training mode: {share:.2f} of the {what}, {chance:.2f} would fit", want, look)
    if p and torch.equal(first, second):
        return wrong("two calls in training mode agree", want, "who seeds or stores the random draw?")
    return right(
        "evaluation mode: four calls as without dropout; training mode: "
        f"{(first == 0).double().mean():.2f} of the entries zero"
    )


def _module_case(name: str, g: torch.Generator, width: int, length: int, p: float) -> Case:
    state = {
        "qkv.weight": torch.randn(3 * width, width, generator=g) / math.sqrt(width),
        "qkv.bias": torch.randn(3 * width, generator=g),
        "out.weight": torch.randn(width, width, generator=g) / math.sqrt(width),
    }
    x = torch.randn(2, length, width, generator=g)
    row = torch.randn(1, 1, width, generator=g).expand(400, 1, width).clone()
    return Case(name, ({"width": width, "p": p}, state, x, row))


def _public_module() -> Iterator[Case]:
    g = torch.Generator().manual_seed(73)
    yield _module_case("width 8, five positions, p = 0.5", g, 8, 5, 0.5)
    yield _module_case("p = 0", g, 4, 3, 0.0)


def _hidden_module(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    for name in ("a fresh module", "another fresh module", "a wider module"):
        width = rng.choice([12, 16]) if "wider" in name else rng.choice([6, 8])
        yield _module_case(name, g, width, rng.randint(2, 6), round(rng.uniform(0.3, 0.6), 2))
    yield _module_case("one position", g, 8, 1, 0.4)
    yield _module_case("no dropout asked for", g, 6, 4, 0.0)


def quiet_evaluation(model: nn.Module, batches: list) -> tuple[float, Tensor]:
    """Loss over all examples and logits, from a copy of the model."""
    model = copy.deepcopy(model).eval()
    with torch.no_grad():
        logits = torch.cat([model(x) for x, _ in batches]).double()
    labels = torch.cat([y for _, y in batches])
    losses = torch.logsumexp(logits, 1) - logits.gather(1, labels[:, None]).squeeze(1)
    return losses.mean().item(), logits


def judge_evaluate(case: Case, seen: Any) -> Verdict:
    """How it ended and what it left, then what it measured."""
    model, batches, modes, grad = case.args
    trap = next((m for m in model.modules() if isinstance(m, Tripwire)), None)
    raises = trap is not None and any(bool(torch.isnan(x).any()) for x, _ in batches)
    if seen["raised"] != (trap.message if raises else None):
        return wrong(
            f"the model's error: {'swallowed' if raises else seen['raised']}",
            "an error in the forward reaches the caller",
            "what do your except clauses catch?",
        )
    if seen["modes"] != modes:
        off = [
            name or "the model itself"
            for (name, _), a, b in zip(model.named_modules(), seen["modes"], modes)
            if a != b
        ]
        return wrong(
            f"training flag changed on {', '.join(off[:5])}",
            "every module's training flag as it was before the call, also when the forward raises",
            "print [m.training for m in model.modules()] before and after; what does model.train() do to "
            "children?",
        )
    if seen["grad"] != grad:
        return wrong(
            f"gradients are {'on' if seen['grad'] else 'off'} after the call",
            "as they were before it",
            "a context manager restores what it found; a setter does not",
        )
    if seen["graph"]:
        return wrong(
            "the logits carry a graph",
            "logits without a graph, from a forward that records none",
            "which of eval() and no_grad() turns the recording off?",
        )
    if not seen["state_kept"] or any(seen["grads"]):
        return wrong(
            "parameters, buffers or gradients changed",
            "evaluation changes nothing",
            "which modules update a running statistic, and in which mode?",
        )
    return (
        right("error passed on; modes and gradient switch as before")
        if raises
        else _measured(model, batches, seen)
    )


def _measured(model: nn.Module, batches: list, seen: Any) -> Verdict:
    loss, logits = quiet_evaluation(model, batches)
    for run in seen["runs"]:
        if type(run[0]) is not float:
            return wrong(
                f"loss is {describe(run[0])}",
                "loss as a Python float",
                ".item() turns a tensor into a number",
            )
        if not isinstance(run[1], Tensor) or run[1].shape != logits.shape:
            return wrong(
                f"logits: {describe(run[1])}",
                f"one tensor of shape {tuple(logits.shape)}",
                "join the batches in their order",
            )
    (loss1, logits1), (loss2, logits2) = seen["runs"]
    if not torch.equal(logits1, logits2) or loss1 != loss2:
        return wrong(
            f"two evaluations: loss {loss1:.6f} and {loss2:.6f}",
            "the same answer twice",
            "which mode is the model in while the batches run?",
        )
    if not torch.allclose(logits1.double(), logits, rtol=1e-4, atol=1e-5):
        return wrong(
            "logits other than the model's in evaluation mode",
            "evaluation-mode logits in batch order",
            "set the mode before the first forward, and check the order",
        )
    if not abs(loss1 - loss) <= 1e-4 * abs(loss) + 1e-6:
        return wrong(
            f"loss {loss1:.6f}",
            "mean cross entropy over all examples, each with the same weight",
            "batches differ in size: is a mean of means what you want?",
        )
    return right(f"loss {loss1:.6f} twice, no graph, modes as before")


def _model(g: torch.Generator, last: nn.Module | None = None) -> nn.Sequential:
    block = nn.Sequential(nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(0.5))
    model = nn.Sequential(nn.Linear(4, 6), block, last or nn.Identity(), nn.Linear(6, 3))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=g))
        block[0].running_mean.copy_(torch.randn(6, generator=g))
        block[0].running_var.copy_(0.5 + torch.rand(6, generator=g))
    return model


def _sets(g: torch.Generator, sizes: list[int]) -> list[tuple[Tensor, Tensor]]:
    return [(torch.randn(n, 4, generator=g), torch.randint(0, 3, (n,), generator=g)) for n in sizes]


def _flags(model: nn.Module, mode: bool, frozen: type | None = None) -> list[bool]:
    """Every module's training flag: `mode`, but off for the modules of type `frozen`."""
    return [mode and not (frozen and isinstance(m, frozen)) for m in model.modules()]


def _public_evaluate() -> Iterator[Case]:
    g = torch.Generator().manual_seed(37)
    model = _model(g)
    yield Case("called in the middle of training", (model, _sets(g, [4, 4]), _flags(model, True), True))
    yield Case("a model that already evaluates", (model, _sets(g, [4, 2]), _flags(model, False), True))


def _hidden_evaluate(rng: random.Random) -> Iterator[Case]:
    g = torch.Generator().manual_seed(rng.getrandbits(62))
    sizes = [rng.randint(5, 8), rng.randint(2, 4), 1]
    model = _model(g)
    on, off = _flags(model, True), _flags(model, False)
    yield Case("fresh data, uneven batches", (model, _sets(g, sizes), on, True))
    yield Case("already in evaluation mode, uneven batches", (model, _sets(g, sizes), off, True))
    yield Case(
        "a batch norm kept in evaluation mode by design",
        (model, _sets(g, sizes), _flags(model, True, nn.BatchNorm1d), True),
    )
    yield Case(
        "one dropout alone in training mode",
        (model, _sets(g, sizes), [isinstance(m, nn.Dropout) for m in model.modules()], True),
    )
    yield Case("gradients off around the call", (model, _sets(g, sizes), on, False))
    yield Case("a single batch", (model, _sets(g, sizes[:1]), on, True))
    for name, flags in (
        ("an error in the second batch", on),
        ("an error, with mixed modes", _flags(model, True, nn.BatchNorm1d)),
    ):
        trapped = _model(g, Tripwire(f"NaN in evaluation, ticket {rng.randint(1000, 9999)}"))
        batches = _sets(g, sizes)
        batches[1][0][0, 0] = math.nan
        yield Case(name, (trapped, batches, flags, True))


EXERCISES = (
    Exercise(
        id="7.3a",
        title="Repair a module that ignores eval()",
        answer="Reader",
        points=2,
        minutes=4,
        level="stretch",
        claims=("7.3",),
        hints=(
            "Call the module twice in evaluation mode on one input and print the largest difference.",
            "Read forward line by line and list every call that draws random numbers. What tells each of "
            "them which mode the module is in?",
            "Set p to 0 for one of those calls at a time and repeat the two calls: is the difference gone, "
            "or is there another?",
        ),
        public=_public_module,
        hidden=_hidden_module,
        judge=judge_module,
        kind="probe",
        probe="module_modes",
    ),
    Exercise(
        id="7.3b",
        title="An evaluation loop that leaves no trace",
        answer="evaluate",
        points=2,
        minutes=4,
        level="stretch",
        claims=("7.3",),
        hints=(
            "Print [m.training for m in model.modules()] before and after your call, for a model with mixed"
            " modes.",
            "Print logits.requires_grad, and call evaluate twice: which of the two switches does each "
            "symptom belong to?",
            "Let the second batch raise. Which of your lines still run? And how much does an example in a "
            "small batch weigh?",
        ),
        public=_public_evaluate,
        hidden=_hidden_evaluate,
        judge=judge_evaluate,
        kind="probe",
        probe="evaluated",
    ),
)
