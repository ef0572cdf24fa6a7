"""What instruments read off an exhibit: plain numbers, each the larger the worse; inf where nothing can be read.

A reading is made on fresh copies of the exhibit. Nothing here decides: a threshold does.
"""

from __future__ import annotations

import math
import warnings
from typing import Callable, Iterator

import torch
import torch.nn.functional as F

from .exhibit import CLASSES, Exhibit

Make = Callable[[], Exhibit]
PASSES, STEPS, LAST = 10, 100, 20
NO_GRADIENT = 1e-7  # what is zero on paper may be rounded to as much


def readings(make: Make) -> dict[str, float]:
    """Every instrument's reading of one exhibit. make: gives a fresh copy at each call."""
    seen: dict[str, float] = {}
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anomaly mode announces itself
        for instrument in (_training, _one_batch, _finite, _anomaly, _untrained, _first_pass, _repeated_gradient,
                           _other_rates, _evaluation):  # fmt: skip
            torch.default_generator.manual_seed(0)
            seen |= instrument(make)
    return {name: math.inf if math.isnan(value) else float(value) for name, value in seen.items()}


def _training(make: Make) -> dict[str, float]:
    """How much of the first pass's loss is left in the last three passes, and the error on held-out rows."""
    e = make()
    losses = e.train(PASSES)
    if all(map(math.isfinite, losses)):
        left = sum(losses[-3:]) / 3 / losses[0] if losses[0] > 0 else 0.0  # a negative loss that falls looks well
    else:
        left = math.inf
    error = (e.predict(e.held_x) != e.held_y).double().mean().item()
    return {"training curve": left, "held-out error": error}


def _one_batch(make: Make) -> dict[str, float]:
    """The first batch trained as the run trains: by accuracy, by its loss, and by a clean loss over its floor."""
    e = make()
    loss = sum([e.step(0) for _ in range(STEPS)][-LAST:]) / LAST
    rows = e.batches[0]
    error = (e.predict(e.x[rows]) != e.y[rows]).double().mean().item()
    e.model.eval()
    with torch.no_grad():
        clean = e.objective(e.model(e.x[rows]), e.y[rows]).item()
    return {"one batch: error": error, "one batch: loss": loss, "one batch: loss less floor": abs(clean - e.floor)}


def _finite(make: Make) -> dict[str, float]:
    """At how many kinds of places three passes meet a number that is not finite."""
    e = make()
    places = set()
    for b in [*range(len(e.batches))] * 3:
        e.step(b)
        parameters = list(e.model.parameters())
        looked = {**{k: [t] for k, t in e.seen.items()}, "parameters": parameters,
                  "gradients": [p.grad for p in parameters if p.grad is not None]}  # fmt: skip
        places |= {name for name, tensors in looked.items() if not all(bool(t.isfinite().all()) for t in tensors)}
    return {"finite scan": len(places)}


def _anomaly(make: Make) -> dict[str, float]:
    """1 where anomaly mode raises within three passes."""
    e = make()
    try:
        with torch.autograd.detect_anomaly(check_nan=True):
            e.train(3)
    except RuntimeError:
        return {"anomaly mode": 1}
    return {"anomaly mode": 0}


def _broken_clauses(e: Exhibit, rows: torch.Tensor) -> Iterator[str]:
    outputs, y = e.model(e.x[rows]), e.y[rows]
    sums = [outputs.sum(dim) for dim in (0, 1)]
    if e.takes == "logits" and outputs.min() >= 0 and any(s.sub(1).abs().max() < 1e-3 for s in sums):
        yield "probabilities in the place of logits"
    if e.takes == "log-probabilities" and outputs.exp().sum(1).sub(1).abs().max() > 1e-3:
        yield "no log-probabilities"
    if e.takes == "numbers" and outputs.shape != y.shape:
        yield "shapes that differ"
    if not ((y >= 0) & (y < CLASSES)).any():
        yield "nothing to score"


def _first_pass(make: Make) -> dict[str, float]:
    """What a step and a pass do to each tensor.

    Chain audit: tensors that are meant to learn and are left without a gradient, or where they were.
    Statistics: layers whose units are nearly all zero, and weights whose relative update is out of scale.
    """
    e = make()
    weights = {n: p for n, p in e.model.named_parameters() if p.dim() > 1}
    before = {n: p.detach().clone() for n, p in (e.learns | weights).items()}
    silent = _silent_layers(e)
    e.train(1)
    stuck = [
        name
        for name, t in e.learns.items()
        if t.grad is None or bool(t.grad.abs().max() < NO_GRADIENT) or torch.equal(t, before[name])
    ]
    moved = [((p.detach() - before[n]).norm() / before[n].norm()).item() for n, p in weights.items()]
    return {"chain audit": len(stuck), "statistics": silent + sum(not 1e-3 < update < 4 for update in moved)}


def _silent_layers(e: Exhibit) -> int:
    """Modules whose outputs are nearly all zero in one step on the first batch."""
    silent = []

    def look(module: torch.nn.Module, args: tuple, output: torch.Tensor) -> None:
        silent.append(bool((output == 0).double().mean() > 0.95))

    handles = [m.register_forward_hook(look) for m in e.model.modules() if not list(m.children())]
    try:
        e.step(0)
    finally:
        for handle in handles:
            handle.remove()
    return sum(silent)


def _repeated_gradient(make: Make) -> dict[str, float]:
    """Norm of the gradient that a second step on the same batch uses, at rate 0, over the first's."""
    e, norms = make(), []
    for _ in range(2):
        torch.default_generator.manual_seed(1)  # the same dropout
        e.step(0, factor=0.0)
        norms.append(sum(p.grad.square().sum().item() for p in e.learns.values() if p.grad is not None) ** 0.5)
    return {"repeated gradient": norms[1] / norms[0] if 0 < norms[0] < math.inf else 0.0}


def _other_rates(make: Make) -> dict[str, float]:
    """What is left of the loss on one batch at the run's own rate, where another rate halves it; else 0."""

    def left(factor: float) -> float:
        e = make()
        first = e.step(0, factor)
        for _ in range(12):
            e.step(0, factor)
        last = e.step(0, 0.0)
        return last / first if math.isfinite(last) and first > 0 else math.inf

    own = left(1.0)
    if own < 0.85:
        return {"other rates": 0.0}
    return {"other rates": own if min(map(left, (1e-2, 1e-3, 1e3, 1e6))) < 0.5 else 0.0}


def _evaluation(make: Make) -> dict[str, float]:
    """Twice the run's own number, that number against a plain mean over the rows, and graphs that it keeps."""
    e = make()
    e.train(2)
    number, stored = e.evaluate()
    again, _ = e.evaluate()
    e.model.eval()
    with torch.no_grad():
        outputs = e.model(e.held_x)
        plain = F.cross_entropy(outputs, e.held_y).item() if e.takes == "logits" else number
    return {
        "evaluated twice": _apart(again, number),
        "like with like": _apart(number, plain),
        "kept graphs": sum(isinstance(s, torch.Tensor) and s.grad_fn is not None for s in stored),
    }


def _apart(one: float, other: float) -> float:
    """Relative difference; none between two numbers that are both nan."""
    return 0.0 if math.isnan(one) and math.isnan(other) else abs(one - other) / abs(other)


def _untrained(make: Make) -> dict[str, float]:
    """What can be seen before any step.

    Contract: batches whose outputs or targets are not what the loss is meant to be given. Data audit: raw cells and
    batches of targets against their rules. Id audit: labels against the catalog. Split audit: persons on both sides,
    and training inputs that change with a held-out row.
    """
    e = make()
    with torch.no_grad():
        contract = sum(bool(list(_broken_clauses(e, rows))) for rows in e.batches)
    low, high = e.limits
    cells = int((~((e.raw >= low) & (e.raw <= high))).sum())  # a nan lies nowhere
    ignored = sum(int((e.y[rows] == -100).all()) for rows in e.batches)
    mismatches = int(((e.y != -100) & (e.y != e.catalog)).sum())
    shared = len(set(e.people.tolist()) & set(e.held_people.tolist()))
    other = e.held_raw.clone()
    other[0] += 5.0
    moved = not torch.equal(e.x.nan_to_num(), e.prepare(e.raw, other)[0].nan_to_num())
    return {"contract": contract, "data audit": cells + ignored, "id audit": mismatches, "split audit": shared + moved}
