"""One trial: code that defines an answer, put to its exercise over several seeds."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Callable, Iterable

from ..exercises.base import Exercise
from ..item import run_item
from ..kernel import LocalAnswer
from ..result import ItemResult


@dataclass(frozen=True)
class Outcome:
    """What a trial earned: the lowest and highest score over the seeds, and the worst item's outcome."""

    lowest: float
    highest: float
    outcome: str
    text: str = ""

    @property
    def full(self) -> bool:
        """Full marks on every seed."""
        return self.lowest == 1

    @property
    def less(self) -> bool:
        """Less than full marks on every seed."""
        return self.highest < 1


def trial(exercise: Exercise, load: Callable[[], Any], seeds: Iterable[int], early: bool = False) -> Outcome:
    """Load an answer and run its exercise: public cases first, then hidden ones of each seed.

    early: stop at the first run below full marks.
    """
    try:
        answer = load()
    except NotImplementedError:
        return Outcome(0, 0, "not attempted", "the stub raises where it is defined")
    except BaseException as error:
        return Outcome(0, 0, "crashed", f"{type(error).__name__}: {error}"[:300])
    worst: ItemResult | None = None
    highest = 0.0
    public = run_item(exercise, LocalAnswer(answer), None)
    if early and public.score < 1:
        return Outcome(public.score, public.score, public.outcome, _why(public))
    for seed in seeds:
        item = run_item(exercise, LocalAnswer(answer), seed)
        highest = max(highest, item.score)
        worst = item if worst is None or item.score < worst.score else worst
        if early and item.score < 1:
            break
    return Outcome(worst.score, highest, worst.outcome, _why(worst))


def _why(item: ItemResult) -> str:
    """The first case that failed, and what was observed."""
    for case in item.cases:
        if not case.verdict.passed:
            observed = case.verdict.observed.strip().splitlines()
            return f"{case.name}: {observed[-1][:160]}" if observed else case.name
    return ""


def defined(name: str, *pieces: tuple[str | ast.Module, str], into: dict[str, Any] | None = None) -> Any:
    """What a name stands for after running pieces of code, each with its file name, in one namespace."""
    space = dict(into or {}, __name__="__answer__")
    for code, file in pieces:
        exec(compile(code, file, "exec"), space)
    return space[name]


def warm_up() -> None:
    """Import what the first optimizer step and backward pass import, on one thread, before forks."""
    import torch

    torch.set_num_threads(1)
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(layer.parameters())
    torch.nn.functional.cross_entropy(layer(torch.ones(3, 2)), torch.tensor([0, 1, 0])).backward()
    optimizer.step()
