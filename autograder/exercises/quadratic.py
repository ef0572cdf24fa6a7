"""2.15: predict what gradient descent does on L(w) = a w^2 / 2 from the curvature and the rate."""

from __future__ import annotations

import random
from typing import Any

from ..result import Case, Verdict
from .base import Exercise, decisions, describe, right, wrong

FATES = ("converge", "oscillate", "diverge", "stay")


def truth_of(a: float, eta: float) -> str:
    """What w does for ever, from any w other than 0; eta * a is exact or far from an edge in every case."""
    edges = {0.0: "stay", 2.0: "oscillate"}
    return edges.get(eta * a) or ("converge" if 0 < eta * a < 2 else "diverge")


def judge(case: Case, answer: Any) -> Verdict:
    truth = truth_of(*case.args)
    wanted = f"one of {', '.join(repr(f) for f in FATES)}: what w does for ever"
    if type(answer) is not str or answer not in FATES:
        return wrong(describe(answer), wanted, "return one of the four strings", group=truth)
    observed = f"{answer!r} for a = {case.args[0]!r}, eta = {case.args[1]!r}"
    if answer == truth:
        return right(observed, wanted, group=truth)
    return wrong(observed, wanted, "by which factor does one step multiply w? Then think of many steps, "
                 "far more than you would run", group=truth)  # fmt: skip


def _case(rng: random.Random, product: float, exact: bool = False) -> Case:
    """A curvature and a rate of the given product; powers of two where it must be exact."""
    a = 2.0 ** rng.randint(-8, 8) if exact else 10 ** rng.uniform(-3, 3)
    return Case(f"a = {a:.4g}", (a, product / a))


def _named(cases: list[Case]) -> list[Case]:
    return [Case(f"a = {a:.7g}, eta = {eta:.7g}", (a, eta)) for a, eta in (case.args for case in cases)]


def public() -> list[Case]:
    return _named([Case("", args) for args in ((2.0, 0.9), (2.0, 1.0), (2.0, 1.1), (2.0, 0.0))])


def hidden(rng: random.Random) -> list[Case]:
    def small() -> float:
        return 10 ** rng.uniform(-6, -5)

    inside = [rng.uniform(0.05, 0.9), rng.uniform(1.1, 1.9), small(), 1 - small(), 1 + small(), 2 - small()]
    outside = [rng.uniform(2.1, 3.0), rng.uniform(5, 50), 10 ** rng.uniform(4, 6), 2 + small()]
    cases = [_case(rng, product) for product in inside + outside]
    cases += [_case(rng, 1.0, exact=True)]
    cases += [_case(rng, 2.0, exact=True) for _ in range(4)]
    # downhill of a maximum: a < 0
    cases += [Case("", (-(10 ** rng.uniform(-2, 2)), 10 ** rng.uniform(-3, -1))) for _ in range(2)]
    cases += [Case("", (-1.0, small()))]
    cases += [Case("", args) for args in ((rng.uniform(0.1, 9), 0.0), (0.0, rng.uniform(0.1, 9)), (0.0, 0.0))]
    cases += [Case("", (2.0 ** rng.randint(-4, 4), 0.0))]
    rng.shuffle(cases)
    return _named(cases)


EXERCISES = (
    Exercise(
        id="2.15",
        title="Converge, oscillate, diverge or stay",
        answer="fate",
        points=3,
        minutes=5,
        level="core",
        claims=("2.15",),
        hints=(
            "Write one step as w_next = (something) * w. What is the something for the case that fails?",
            "What do the powers of that number do when it is 1.000001, 0.999999, exactly 1, exactly -1?",
            "A loop of any fixed number of steps can't tell an edge from its neighborhood: print the factor "
            "of the failing case instead, with all its digits, and mind its sign.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
        score=decisions,
    ),
)
