"""Exercise 9.2: five faults and none, told apart by an observable and a falsifying control."""

from __future__ import annotations

import random
from typing import Any, Iterable, Iterator

from ..result import Case, CaseResult, Verdict
from ..runs.faults import FAULTS, KINDS, Recipe
from ..runs.measure import WORDS, Finding, measure
from ..runs.run import Run
from ..wire import NumpyScalar
from .base import Exercise, chance_corrected, describe

TOLERANCE = 2e-3  # relative: float32 sums in another order differ by less than a tenth of it
PARTS = ("diagnosis", "observable", "control")


def public() -> Iterator[Case]:
    """Three faults and a healthy run."""
    kinds = [("nan_in_later_batch", 11), ("never_cleared", 12), ("slow", 13), ("shuffled_apart", 14)]
    return _cases([Recipe(kind, seed) for kind, seed in kinds])


def hidden(rng: random.Random) -> Iterator[Case]:
    """Every mechanism of every fault once, and every way to look bad while healthy."""
    kinds = list(KINDS)
    rng.shuffle(kinds)
    return _cases([Recipe(kind, rng.getrandbits(62)) for kind in kinds])


def _cases(recipes: Iterable[Recipe]) -> Iterator[Case]:
    for number, recipe in enumerate(recipes, 1):
        run = Run(recipe)
        yield Case(f"run {number}: {run.title()}", (run,), recipe)


def judge(case: Case, answer: Any) -> Verdict:
    """Fault first; observable and control count where the fault is right. Measured on a fresh run."""
    recipe: Recipe = case.truth
    said, complaint = _fault(answer)
    if complaint:
        expected = "a dict with 'fault', 'observable' and 'control'"
        return _verdict(recipe, [False] * 3, complaint, expected, "compare it with the docstring")
    if said != recipe.fault:
        observed = f"the diagnosis {said!r}, which is not what the run shows"
        expected = "the fault that the run shows, or 'healthy'"
        return _verdict(recipe, [False] * 3, observed, expected, _against(recipe, said), said)
    true = measure(recipe, said)
    observable, control = _compare_observable(answer, true), _compare_control(answer, true)
    passed = [True, not observable, not control]
    wanted = [text for text, complaint in zip(WORDS[said], (observable, control)) if complaint]
    observed = "; ".join([f"the diagnosis {said!r}", *filter(None, (observable, control))])
    look = "" if all(passed) else "measure from reset(), as the table defines it, one change at a time"
    return _verdict(recipe, passed, observed, "; ".join(wanted), look, said)


def _verdict(
    recipe: Recipe, passed: list[bool], observed: str, expected: str, look: str, said: str = ""
) -> Verdict:
    return Verdict(all(passed), observed, expected, look, dict(zip(PARTS, passed)), recipe.fault, said)


def _fault(answer: Any) -> tuple[str, str]:
    """The named fault and "", or "" and what is wrong with the answer."""
    if type(answer) is not dict or "fault" not in answer:
        return "", f"{describe(answer)} came back, without the key 'fault'"
    said = answer["fault"]
    if type(said) is not str or said not in FAULTS:
        return "", f"'fault' is {describe(said)}, which is none of {', '.join(map(repr, FAULTS))}"
    return said, ""


def _against(recipe: Recipe, said: str) -> str:
    """What the run measures under the suspicion that was named; names no other."""
    if said == "healthy":
        return "one suspicion of the five stands: measure each observable of the table beside its control"
    found = measure(recipe, said)
    return {
        "nan input": "every input cell of every batch is finite",
        "wrong parameter": "every tensor with a gradient other than zero in the first pass moved in it",
        "learning rate": f"30 updates on batch 0 leave {found.value:.3g} of its loss at the run's rate, "
        f"and {found.control:.3g} at a tenth of it",
        "zero_grad": f"the second update uses a gradient of norm {found.value:.4g}, "
        f"and of {found.control:.4g} when all are cleared before it",
        "wrong labels": "every target of every batch is the catalog's for that id",
    }[said]


def _compare_observable(answer: dict, true: Finding) -> str:
    """What is wrong with the observable; empty when it is right."""
    given = answer.get("observable")
    if type(given) is not dict or "ids" not in given:
        return f"'observable' is {describe(given)}, not a dict with 'value' and 'ids'"
    return _compare("observable", given, true.value) or _compare_ids(given["ids"], true.ids)


def _compare_control(answer: dict, true: Finding) -> str:
    """What is wrong with the control; empty when it is right."""
    given = answer.get("control")
    if type(given) is not dict:
        return f"'control' is {describe(given)}, not a dict with 'value'"
    return _compare("control", given, true.control)


def _compare(part: str, given: dict, true: float) -> str:
    value = given.get("value")
    if isinstance(value, NumpyScalar):
        return f"the {part}'s value is a numpy {value.type_name}; wrap it in float()"
    if type(value) not in (int, float):
        return f"the {part}'s value is {describe(value)}; a float is wanted"
    if not abs(value - true) <= TOLERANCE * abs(true) + 1e-6:  # false for nan, too
        return f"the {part} is given as {value:.6g}, and measures differently on a fresh copy"
    return ""


def _compare_ids(given: Any, true: list) -> str:
    if type(given) is not list or any(type(i) not in (int, str) for i in given):
        return f"the observable's ids are {describe(given)}; a list of integers or of names is wanted"
    missing, extra = len(set(true) - set(given)), len(set(given) - set(true))
    if missing or extra or len(set(given)) != len(given):
        return f"of the observable's ids {missing} are missing and {extra} do not belong, or one comes twice"
    return ""


def score(cases: list[CaseResult]) -> float:
    """What the diagnoses earn over chance, of which 0.4 by themselves, 0.3 and 0.3 by the evidence.

    Evidence counts as the share of right diagnoses that have it, so that an answer which
    always names the same fault earns nothing, however well it measures.
    """
    hits = [case.verdict.parts.get("diagnosis", False) for case in cases]
    earned = chance_corrected(hits, [case.verdict.group for case in cases])

    def share(part: str) -> float:
        return sum(case.verdict.parts.get(part, False) for case in cases) / max(1, sum(hits))

    return earned * (0.4 + 0.3 * share("observable") + 0.3 * share("control"))


EXERCISES = (
    Exercise(
        id="9.2",
        title="Five broken runs",
        answer="diagnose",
        points=11,
        minutes=15,
        level="core",
        claims=("9.2",),
        hints=(
            "Ask one question at a time, each from reset(): are all inputs finite, does every target agree "
            "with the catalog by id, and what does the loss on batch 0 do over 30 updates on it?",
            "Two questions need an intervention: take the same batch twice at rate 0, once with zero_grad() "
            "between and once without; and compare parameters() before and after a whole pass, "
            "but only for tensors whose gradient was different from zero in it.",
            "Look into every batch, not only the first, and join by id, not by place. A slow, swinging or "
            "frozen run is healthy when none of the five suspicions holds: then measure whether it learns.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
        score=score,
    ),
)
