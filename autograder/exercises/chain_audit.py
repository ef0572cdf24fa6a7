"""3.3: audit the chain from a tensor to its update; the first broken link of each tensor."""

from __future__ import annotations

import pickle
import random
from typing import Any, Iterator

import torch
import torch.nn.functional as F

from ..result import Case, Verdict
from . import _chain_cases as chains
from .base import Exercise, decisions, describe, right, wrong

FINDINGS = ("ok", "no graph", "not registered", "not in optimizer", "bad gradient", "not moved", "moved")


def measure(args: tuple) -> tuple[dict[str, str], bool]:
    """The findings of one training step on a copy of the case's arguments, and whether ids pair."""
    model, optimizer, x, y, x_ids, y_ids, tensors, resting = pickle.loads(pickle.dumps(args))
    registered = {id(p) for p in model.parameters()}
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    before = {name: t.detach().clone() for name, t in tensors.items()}
    loss = F.cross_entropy(model(x), y)
    if loss.requires_grad:
        loss.backward()
    optimizer.step()

    def finding(name: str, t: torch.Tensor) -> str:
        moved = not torch.equal(t.detach(), before[name])
        if name in resting:
            return "moved" if moved else "ok"
        links = {
            "no graph": t.grad is not None,
            "not registered": id(t) in registered,
            "not in optimizer": id(t) in held,
            "bad gradient": t.grad is not None and bool(t.grad.isfinite().all() and (t.grad != 0).any()),
            "not moved": moved,
        }
        return next((link for link, holds in links.items() if not holds), "ok")

    return {name: finding(name, t) for name, t in tensors.items()}, torch.equal(x_ids, y_ids)


def _unreadable(answer: Any, names: set[str]) -> Verdict | None:
    """Types first: a tuple of a dict of known words and a plain bool, or a verdict that says what is not."""
    wanted = "a tuple (findings, paired): a dict of strings by name, and True or False"
    if type(answer) is not tuple or len(answer) != 2:
        return wrong(describe(answer), wanted, "return findings, paired")
    findings, paired = answer
    if type(findings) is not dict or not all(type(key) is str for key in findings):
        return wrong(f"findings: {describe(findings)}", wanted, "use the names of `tensors` as keys")
    if set(findings) != names:
        missing, extra = sorted(names - set(findings)), sorted(set(findings) - names)
        return wrong(
            f"findings for {len(findings)} names; missing {missing}, unknown {extra}",
            f"one finding for each of the {len(names)} names in `tensors`",
            "loop over `tensors`, not over what the model or the optimizer lists",
        )
    for name, word in findings.items():
        if type(word) is not str or word not in FINDINGS:
            return wrong(f"{name}: {describe(word)}", "one of " + ", ".join(FINDINGS), "mind the spelling")
    if type(paired) is not bool:
        return wrong(f"paired: {describe(paired)}", wanted, "bool(...) makes a Python bool of a tensor")
    return None


def judge(case: Case, answer: Any) -> Verdict:
    """All findings and the pairing must agree with the judge's own step."""
    truth, pairs = measure(case.args)
    faults = [word for word in truth.values() if word != "ok"] + ([] if pairs else ["unpaired"])
    group = faults[0] if faults else "healthy"
    expected = "for every name the first link that is broken in this very step, and the pairing of the ids"
    refused = _unreadable(answer, set(truth))
    if refused:
        return wrong(refused.observed, refused.expected, refused.look, group=group)
    findings, paired = answer
    off = [name for name in truth if findings[name] != truth[name]]
    if off:
        listed = ", ".join(f"{name} called {findings[name]!r}" for name in off[:3])
        return wrong(
            f"{len(off)} of {len(truth)} findings disagree with a measured step: {listed}",
            expected, _look(findings[off[0]], truth[off[0]], off[0] in case.args[7]), group=group,
        )  # fmt: skip
    if paired != pairs:
        return wrong(f"findings agree; paired came back {paired}", expected,
                     "print both id vectors side by side, row by row", group=group)  # fmt: skip
    return right(f"{len(truth)} findings and the pairing agree", expected, group=group)


def _look(said: str, true: str, rests: bool) -> str:
    """Where to look, from the kind of disagreement; the finding itself stays unsaid."""
    if rests:
        return "this tensor is meant to rest: compare its values before and after the step, and nothing else"
    if said == "ok":
        return "walk the chain of this tensor by hand, and print what each link rests on"
    if true == "ok":
        return "an accusation without a fault: print the observable behind it, exactly and by identity"
    return "another link of this tensor breaks first: print all five in the order of the docstring"


def _case(name: str, variant: str, rng: random.Random) -> Case:
    return Case(name, chains.build(name, variant, rng))


def public() -> Iterator[Case]:
    rng = random.Random(3)
    yield _case("a pretrained trunk under a head", "planned", rng)
    yield _case("a network with a new head", "early", rng)
    yield _case("a layer with a weight made by hand", "plain", rng)
    yield _case("a batch from a shuffled epoch", "permuted", rng)


def hidden(rng: random.Random) -> Iterator[Case]:
    """Every variant of every family once, in a drawn order."""
    drawn = [(name, variant) for name, (_, variants) in chains.FAMILIES.items() for variant in variants]
    rng.shuffle(drawn)
    for name, variant in drawn:
        yield _case(name, variant, rng)


EXERCISES = (
    Exercise(
        id="3.3",
        title="Audit the chain from loss to update",
        answer="audit_chain",
        points=6,
        minutes=12,
        level="core",
        claims=("3.3",),
        hints=(
            "Measure, then judge. Before the step: which objects does the model list, and which ones do the "
            "optimizer's groups hold? Tensors may be equal in value; ask whether they are the same object.",
            "Keep a copy of every value that the step can't reach (what does detach() share?), run one "
            "forward, backward and step, and print for each name: is there a gradient, its extremes, is any "
            "entry different now. Does backward always have a graph to walk?",
            "Write the five links of one tensor as booleans in the order of the docstring and take the first "
            "that is False. Then ask of each link: any entry or all of them? exactly or nearly?",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
        score=decisions,
    ),
)
