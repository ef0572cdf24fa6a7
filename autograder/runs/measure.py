"""The two numbers of each diagnosis, measured on a run: the observable and its control.

Every function starts from reset. `WORDS` says the same for verdicts, and the table of
notebook 09 says it for students: the three must agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from .faults import Recipe
from .run import Run, own_ground

STEPS = 30  # updates on batch 0 by which a rate is judged
EPOCHS = 2  # passes in order by which learning is judged


@dataclass(frozen=True)
class Finding:
    """value and ids: the observable; control: the same quantity under the falsifying change."""

    value: float
    control: float
    ids: list = field(default_factory=list)


def nan_input(run: Run) -> Finding:
    """Nonfinite input cells of an epoch; the loss of the first such batch with those cells at 0."""
    run.reset()
    cells, ids, first = 0, [], None
    for i in range(run.batches()):
        batch = run.batch(i)
        bad = ~batch["inputs"].isfinite()
        cells += int(bad.sum())
        ids += batch["ids"][bad.any(dim=1)].tolist()
        if bad.any() and first is None:
            first = i
            run.edit(batch["ids"], inputs=batch["inputs"].masked_fill(bad, 0))
    return Finding(float(cells), run.loss(first or 0), ids)


def wrong_parameter(run: Run) -> Finding:
    """Tensors that get a gradient and never move; what moving them by hand does to the loss."""
    run.reset()
    start, rate = run.parameters(), run.lr()
    pulled = set()
    for k in range(run.batches()):
        run.step(k)
        pulled |= {name for name, g in run.gradients().items() if g is not None and bool((g != 0).any())}
    now = run.parameters()
    still = [name for name in start if name in pulled and torch.equal(start[name], now[name])]
    run.reset()
    run.zero_grad()
    before = run.backward(0)
    pull = run.gradients()
    run.assign({name: start[name] - rate * pull[name] for name in still})
    return Finding(norm({name: pull[name] for name in still}), run.loss(0) - before, still)


def learning_rate(run: Run) -> Finding:
    """Loss on batch 0 after STEPS updates on it, over the loss before; the same at a tenth of the rate."""
    return Finding(_growth(run, 1.0), _growth(run, 0.1))


def _growth(run: Run, factor: float) -> float:
    run.reset()
    before, rate = run.loss(0), run.lr() * factor
    for _ in range(STEPS):
        run.step(0, lr=rate)
    return run.loss(0) / before


def zero_grad(run: Run) -> Finding:
    """Norm of the gradient that the second of two updates on batch 0 uses, at rate 0; cleared between."""
    return Finding(_second_norm(run, False), _second_norm(run, True))


def _second_norm(run: Run, cleared: bool) -> float:
    run.reset()
    run.step(0, lr=0.0)
    if cleared:
        run.zero_grad()
    run.step(0, lr=0.0)
    return norm(run.gradients())


def wrong_labels(run: Run) -> Finding:
    """Fraction of examples that disagree with the catalog; held-out loss when trained on the catalog's."""
    run.reset()
    ids, total = [], 0
    for i in range(run.batches()):
        batch = run.batch(i)
        recorded = run.catalog(batch["ids"])
        ids += batch["ids"][recorded != batch["targets"]].tolist()
        total += len(recorded)
        run.edit(batch["ids"], targets=recorded)
    return Finding(len(ids) / total, _trained(run), ids)


def healthy(run: Run) -> Finding:
    """Held-out loss after EPOCHS passes; the same when each batch's targets are moved on by one place."""
    run.reset()
    value = _trained(run)
    run.reset()
    for i in range(run.batches()):
        batch = run.batch(i)
        run.edit(batch["ids"], targets=batch["targets"].roll(1))
    return Finding(value, _trained(run))


def _trained(run: Run) -> float:
    for _ in range(EPOCHS):
        for i in range(run.batches()):
            run.step(i)
    return run.score()


def norm(tensors: dict[str, torch.Tensor | None]) -> float:
    """Norm over all given tensors together; None counts as zero."""
    return sum(float(t.square().sum()) for t in tensors.values() if t is not None) ** 0.5


MEASURES = {
    "healthy": healthy,
    "nan input": nan_input,
    "wrong parameter": wrong_parameter,
    "learning rate": learning_rate,
    "zero_grad": zero_grad,
    "wrong labels": wrong_labels,
}



def measure(recipe: Recipe, suspicion: str) -> Finding:
    """The two numbers of one suspicion (a key of MEASURES) on a fresh run of a recipe."""
    with own_ground():
        return MEASURES[suspicion](Run(recipe))


# fault: (observable, control)
WORDS = {
    "healthy": (
        "held-out loss after two passes over the batches in order",
        "the same after each batch's targets were moved on by one place (roll by 1)",
    ),
    "nan input": (
        "number of nonfinite input cells in all batches, with the ids of their examples",
        "loss on the first batch that has such cells, with those cells set to 0",
    ),
    "wrong parameter": (
        "norm of the gradient of batch 0 at the start over the tensors that have a gradient in the first "
        "pass and do not move in it, with their names",
        "loss on batch 0 after minus before moving just those tensors by hand, by minus rate times gradient",
    ),
    "learning rate": (
        "loss on batch 0 after 30 updates on batch 0, divided by the loss before them",
        "the same at a tenth of the run's rate",
    ),
    "zero_grad": (
        "norm, over all tensors, of the gradient that the second of two updates on batch 0 at rate 0 uses",
        "the same with all gradients cleared between the two",
    ),
    "wrong labels": (
        "fraction of all examples whose target is not the catalog's, with their ids",
        "held-out loss after two passes over the batches in order with the catalog's targets",
    ),
}
