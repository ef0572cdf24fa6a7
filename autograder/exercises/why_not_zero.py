"""Exercise 1.5b: tell apart the causes that keep a one-batch fit from zero, by one changed variable."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any, Callable, Iterable

import numpy as np

from ..result import Case, CaseResult, Verdict
from ..runs.fits import (
    CROSS_ENTROPY,
    NEAR_ZERO,
    RANGES,
    WIDTHS,
    OneBatchFit,
    Recipe,
    changed,
    final_loss,
)
from .base import Exercise, chance_corrected, describe, wrong

CAUSES = (
    "capacity",
    "contradictory labels",
    "label smoothing",
    "regularization",
    "learning rate",
    "unsuitable loss",
    "nothing",
)
KEYS = ("cause", "change", "before", "after")
SIZE, FEATURES = 12, 4


def _healthy(rng: random.Random, repeats: bool, unit: float) -> Recipe:
    """A fit that gets near zero, with settings that look odd and do no harm.

    repeats: whether an example occurs twice, which is harmless while its labels agree.
    unit: of the inputs; the larger their numbers, the smaller the rate that they need.
    """
    while True:
        classes = rng.choice((3, 4))
        g = np.random.default_rng(rng.getrandbits(32))
        rows = (1.5 * unit * g.normal(size=(SIZE, FEATURES))).round(2)
        labels = (np.arange(SIZE) % classes).tolist()
        # 0, 1 and classes, classes + 1 cross like XOR, so no linear model fits, at whatever rate
        rows[classes + 1] = (rows[0] + rows[classes] - rows[1]).round(2)
        if repeats:
            rows[SIZE - 1], labels[SIZE - 1] = rows[0], labels[0]
        order = g.permutation(SIZE)
        recipe = Recipe(
            x=tuple(tuple(rows[row].tolist()) for row in order),
            y=tuple(labels[row] for row in order),
            classes=classes,
            seed=rng.getrandbits(32),
            lr=round(rng.uniform(0.4, 0.7) / unit, 3),
            width=rng.randint(20, 40),
            loss=rng.choice((CROSS_ENTROPY, CROSS_ENTROPY, "cross entropy of log_softmax")),
            label_smoothing=rng.choice((0.0, 0.0, 0.001)),
            weight_decay=rng.choice((0.0, 1e-6, 1e-5)),
            max_norm=rng.choice((1e3, round(rng.uniform(40, 90), 1))),
        )
        # half and twice the rate do as well, so a coarse search of rates finds one
        if all(final_loss(replace(recipe, lr=recipe.lr * by)) < 0.6 * NEAR_ZERO for by in (1, 0.5, 2)):
            return recipe


def _faulty(rng: random.Random, cause: str, fault: Callable, repeats: bool, unit: float) -> Recipe:
    """A healthy fit with one fault, drawn again until the fault shows clearly and no other cause could be meant."""
    while True:
        recipe = fault(rng, _healthy(rng, repeats, unit))
        loss = final_loss(recipe)
        if math.isfinite(loss) and loss > 2 * NEAR_ZERO and not _eased(recipe, cause):
            return recipe


# each variable at its most harmless; of a rate, no value is harmless for all
HARMLESS = (
    ("label smoothing", {"label_smoothing": 0.0}),
    ("regularization", {"weight_decay": 0.0}),
    ("regularization", {"max_norm": RANGES["max_norm"][1]}),
    ("unsuitable loss", {"loss": CROSS_ENTROPY}),
    ("capacity", {"width": WIDTHS[1]}),
    ("capacity", {"activation": "relu"}),
)


def _eased(recipe: Recipe, cause: str) -> bool:
    """Whether another cause's variable takes the fit near zero too: beyond the region of convergence, by luck."""
    return any(
        final_loss(changed(recipe, change)) < NEAR_ZERO for other, change in HARMLESS if other != cause
    )


def _contradict(rng: random.Random, recipe: Recipe, extra: int) -> Recipe:
    """Give `extra` rows the input of another row that has a different label.

    Whichever of the contradicting rows is kept, the rest must fit; else the recipe comes back as it was.
    """
    first = rng.randrange(SIZE)
    others = [row for row in range(SIZE) if recipe.y[row] != recipe.y[first]]
    moved = rng.sample(others, extra)
    faulty = replace(recipe, x=tuple(recipe.x[first if row in moved else row] for row in range(SIZE)))
    same = [row for row in range(SIZE) if faulty.x[row] == faulty.x[first]]
    for kept in same:
        rows = [row for row in range(SIZE) if row == kept or row not in same]
        if final_loss(changed(faulty, {"examples": rows})) > 0.6 * NEAR_ZERO:
            return recipe
    return faulty


# two mechanisms for each cause, so that no single setting gives a cause away
MECHANISMS: tuple[tuple[str, Callable[[random.Random, Recipe], Recipe]], ...] = (
    ("capacity", lambda rng, r: replace(r, width=1)),
    ("capacity", lambda rng, r: replace(r, activation="none")),
    ("contradictory labels", lambda rng, r: _contradict(rng, r, 1)),
    ("contradictory labels", lambda rng, r: _contradict(rng, r, 2)),
    ("label smoothing", lambda rng, r: replace(r, label_smoothing=round(rng.uniform(0.05, 0.1), 3))),
    ("label smoothing", lambda rng, r: replace(r, label_smoothing=round(rng.uniform(0.2, 0.4), 2))),
    ("regularization", lambda rng, r: replace(r, weight_decay=round(rng.uniform(0.03, 0.045) / r.lr, 3))),
    ("regularization", lambda rng, r: replace(r, max_norm=round(rng.uniform(0.9, 1.4), 2))),
    ("learning rate", lambda rng, r: replace(r, lr=round(r.lr / 10 ** rng.uniform(2.4, 3.7), 6))),
    ("learning rate", lambda rng, r: replace(r, lr=round(r.lr * rng.uniform(20, 50), 1))),
    ("unsuitable loss", lambda rng, r: replace(r, loss="cross entropy of softmax")),
    ("unsuitable loss", lambda rng, r: replace(r, loss="cross entropy of sigmoid")),
)


def public() -> Iterable[Case]:
    rng = random.Random(31)
    for number, index in enumerate((4, 9, 12, 2), 1):
        yield _case(f"fit {number}", rng, index, number)


def hidden(rng: random.Random) -> Iterable[Case]:
    indices = list(range(len(MECHANISMS) + 2))
    flip = rng.randrange(4)
    rng.shuffle(indices)
    for number, index in enumerate(indices, 1):
        yield _case(f"fresh fit {number}", rng, index, index + flip)


def _case(name: str, rng: random.Random, index: int, turn: int) -> Case:
    """The fit with that mechanism; an index past the last mechanism gives a healthy one.

    turn: 1 and 3 (of every four) repeat an example, 2 and 3 have inputs that are large numbers.
    """
    repeats, unit = turn % 2 == 1, 8.0 if turn // 2 % 2 else 1.0
    if index >= len(MECHANISMS):
        cause, recipe = "nothing", _healthy(rng, repeats, unit)
    else:
        cause, fault = MECHANISMS[index]
        recipe = _faulty(rng, cause, fault, repeats, unit)
    return Case(f"{name}: {SIZE} examples, {recipe.classes} classes", (OneBatchFit(recipe),), cause)


def judge(case: Case, answer: Any) -> Verdict:
    fit, cause = case.args[0], case.truth
    problem = _malformed(answer)
    if problem:
        return wrong(*problem, parts={"diagnosis": False, "evidence": False}, group=cause)
    diagnosis = answer["cause"] == cause
    doubt = _doubt(fit, answer)
    moved = f"{answer['before']:.4g} to {answer['after']:.4g}"
    return Verdict(
        passed=diagnosis and not doubt,
        observed=f"{answer['cause']!r}; {answer['change'] or 'no change'}: {moved}",
        expected=f"the one cause whose own variable, changed alone, takes the loss below {NEAR_ZERO}",
        look=doubt
        or ("" if diagnosis else "your measurement holds; to which cause does its variable belong?"),
        parts={"diagnosis": diagnosis, "evidence": not doubt},
        group=cause,
    )


def _malformed(answer: Any) -> tuple[str, str, str] | None:
    """What is wrong with an answer's types, if anything."""
    expected = f"a dict with the keys {', '.join(KEYS)}"
    if type(answer) is not dict or set(answer) != set(KEYS):
        seen = f"keys {list(answer)}" if type(answer) is dict else describe(answer)
        return seen, expected, "see the docstring"
    if type(answer["cause"]) is not str or answer["cause"] not in CAUSES:
        return (
            f"cause is {describe(answer['cause'])}",
            f"one of {', '.join(map(repr, CAUSES))}",
            "copy the spelling",
        )
    change = answer["change"]
    if type(change) is not dict or not all(type(name) is str for name in change):
        return (
            f"change is {describe(change)}",
            "a dict: a variable's name and its new value",
            "see the docstring",
        )
    for key in ("before", "after"):
        if type(answer[key]) is not float:
            return (
                f"{key} is {describe(answer[key])}",
                "a Python float",
                "return what fit.loss returned, as it came",
            )
    return None


def _doubt(fit: OneBatchFit, answer: dict) -> str:
    """Why the measurement does not support a conclusion; empty when it does. The cause plays no part."""
    change, before, after = answer["change"], answer["before"], answer["after"]
    ours = fit.loss()
    healthy = ours < NEAR_ZERO
    if len(change) > 1:
        return "two variables changed at once can't be told apart: change one"
    try:
        after_ours = final_loss(changed(fit.recipe, change))
    except (TypeError, ValueError) as error:
        return f"your change can't be made: {error}"
    if not (_same(before, ours) and _same(after, after_ours)):
        return "a fresh fit gives other losses than you report: measure both with fit.loss"
    if healthy:
        return "" if not change else "look at the loss before your change: is there anything to repair?"
    if not change:
        return "the loss is far from zero, and nothing was changed: which single variable moves it?"
    if not after_ours < NEAR_ZERO:
        return "the loss stays up after your change, so this variable (at this value) is not what holds it up"
    if "examples" in change and not _covers(fit.recipe, list(change["examples"])):
        return (
            "a batch with inputs missing is an easier task: drop rows only while every different input stays"
        )
    return ""


def _covers(recipe: Recipe, rows: list) -> bool:
    """Whether the rows kept hold every distinct input of the batch."""
    return {recipe.x[int(row)] for row in rows} == set(recipe.x)


def _same(reported: float, measured: float) -> bool:
    """Equal up to rounding for print; nan only matches nan."""
    if not math.isfinite(measured) or not math.isfinite(reported):
        return str(reported) == str(measured)
    return abs(reported - measured) <= 1e-4 + 1e-3 * abs(measured)


def diagnosis_and_evidence(cases: list[CaseResult]) -> float:
    """Half for the diagnoses, half for the evidence; a constant answer earns 0 of either."""
    groups = [case.verdict.group for case in cases]

    def part(name: str) -> float:
        return chance_corrected([case.verdict.parts.get(name, False) for case in cases], groups)

    return (part("diagnosis") + part("evidence")) / 2


EXERCISES = (
    Exercise(
        id="1.5b",
        title="Why does this fit not reach zero?",
        answer="why_not_zero",
        points=3,
        minutes=10,
        level="stretch",
        claims=("1.5",),
        hints=(
            "Measure first whether there is anything to explain: fit.loss() without a change. Then "
            "look at the "
            "batch itself before you touch a setting: which rows of x are equal, and do their labels agree?",
            "Make a table: one row for each variable in fit.settings(), the loss with that variable "
            "alone set to "
            "its most harmless value. Which row falls below 0.05?",
            "A rate can be wrong in both directions: measure it at several powers of ten. A capacity "
            "can be short "
            "in more than one way, and so can a regularization: look at every variable that "
            "settings() names.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
        score=diagnosis_and_evidence,
        seconds=20,
    ),
)
