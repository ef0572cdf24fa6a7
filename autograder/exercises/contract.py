"""2.3: name every clause of the cross-entropy contract that a batch violates."""

from __future__ import annotations

import random
from functools import partial
from typing import Any, Callable

import torch

from ..result import Case, Verdict
from .base import Exercise, decisions, describe, right, wrong

CLAUSES = (
    "logits dtype",
    "logits finite",
    "target dtype",
    "target shape",
    "target range",
    "mask",
    "denominator",
)


# --- what a batch really violates ---------------------------------------------------------------


def measure(
    logits: torch.Tensor, target: torch.Tensor, mask: Any = None, ignore_index: int = -100
) -> list[str]:
    """The violated clauses, in the order of CLAUSES, as the stub's docstring defines them."""
    found = []
    if not logits.is_floating_point():
        found.append("logits dtype")
    if not bool(torch.isfinite(logits).all()):
        found.append("logits finite")
    classes_at = 0 if logits.dim() == 1 else 1
    positions = logits.shape[:classes_at] + logits.shape[classes_at + 1 :]
    soft = target.is_floating_point() and target.shape == logits.shape
    shape_holds = soft or target.shape == positions
    dtype_holds = soft or target.dtype == torch.int64
    if not dtype_holds:
        found.append("target dtype")
    if not shape_holds:
        found.append("target shape")
    if not (dtype_holds and shape_holds):
        scored = None
    elif soft:
        sums = target.double().sum(classes_at)
        # written so that a nan fails
        if not (bool((target >= 0).all()) and bool(((sums - 1).abs() <= 0.01).all())):
            found.append("target range")
        scored = torch.ones(positions, dtype=torch.bool)
    else:
        scored = target != ignore_index
        if bool(((target < 0) | (target >= logits.shape[classes_at]))[scored].any()):
            found.append("target range")
    if mask is not None and not (mask.dtype == torch.bool and mask.shape == positions):
        found.append("mask")
    elif scored is not None:
        kept = scored if mask is None else scored & mask
        if not bool(kept.any()):
            found.append("denominator")
    return found


def judge(case: Case, answer: Any) -> Verdict:
    truth = measure(*case.args)
    group = ", ".join(truth)
    wanted = (
        "the names of the violated clauses, each once, and no others; [] for a batch that keeps all of them"
    )
    if type(answer) is not list or not all(type(name) is str for name in answer):
        what = describe(answer)
        if type(answer) is list:
            what += " that holds " + describe(next(name for name in answer if type(name) is not str))
        return wrong(what, "a list of strings", "return a list, empty when nothing is violated", group=group)
    observed = str(answer)[:300]
    unknown = [name for name in answer if name not in CLAUSES]
    if unknown or len(set(answer)) != len(answer):
        return wrong(observed, f"each name once, out of {', '.join(CLAUSES)}",
                     "copy the spelling of the clauses from the docstring", group=group)  # fmt: skip
    if set(answer) == set(truth):
        return right(observed, wanted, group=group)
    missed, alarms = len(set(truth) - set(answer)), len(set(answer) - set(truth))
    look = f"{missed} clause(s) missed, {alarms} false alarm(s): " + _shapes(*case.args)
    return wrong(observed, wanted, look, group=group)


def _shapes(logits: torch.Tensor, target: torch.Tensor, mask: Any = None, ignore_index: int = -100) -> str:
    text = f"logits are {describe(logits)}; target is {describe(target)}; ignore_index {ignore_index}"
    return text + (f"; mask is {describe(mask)}" if mask is not None else "; no mask")


# --- batches ------------------------------------------------------------------------------------
# Each maker takes an rng and returns (what the student may know, logits, target, mask, ignore_index).

KINDS = ("classes", "segments", "tokens", "soft")


def _batch(rng: random.Random, kind: str = "") -> list:
    """A valid batch of one of KINDS."""
    kind = kind or rng.choice(KINDS)
    n, c, length = rng.randint(4, 6), rng.randint(7, 9), rng.randint(4, 6)
    shape = {"segments": (n, c, 3, length), "tokens": (n, c, length)}.get(kind, (n, c))
    logits = 3 * torch.randn(shape)
    positions = shape[:1] + shape[2:]
    if kind == "soft":
        return ["soft targets", logits, torch.randn(shape).softmax(1), None, -100]
    target = torch.randint(0, c, positions)
    target.view(-1)[0], target.view(-1)[1] = 0, c - 1  # both ends of the range are valid
    mask = None
    if kind == "tokens":
        mask = torch.arange(length) < torch.randint(1, length + 1, (n, 1))
    return [kind, logits, target, mask, -100]


def _hard(rng: random.Random) -> list:
    return _batch(rng, rng.choice(["classes", "segments", "tokens"]))


def _any_index(tensor: torch.Tensor, rng: random.Random) -> tuple:
    return tuple(rng.randrange(size) for size in tensor.shape)


def _valid(kind: str) -> Callable:
    return lambda rng: _batch(rng, kind)


def _valid_ignored(rng: random.Random, choices: tuple = (-1, 0, 255)) -> list:
    """Some targets carry the ignore index, which may lie outside or inside the range of classes."""
    batch = _batch(rng, rng.choice(["classes", "segments"]))
    batch[4] = rng.choice(choices)
    batch[2].view(-1)[1:3] = batch[4]
    batch[2].view(-1)[3] = 1  # one at least is scored
    batch[0] += f" with ignore_index {batch[4]}"
    return batch


def _valid_extreme(rng: random.Random) -> list:
    """Finite logits whose sum is not, in float32 or float16."""
    batch = _hard(rng)
    batch[1] = batch[1].sign() * 3e38 if rng.random() < 0.5 else (batch[1].sign() * 6e4).half()
    batch[1][:, 0] = batch[1].abs()[:, 0]
    return batch


def _valid_single(rng: random.Random) -> list:
    return [
        "one example without a batch dimension",
        torch.randn(5),
        torch.tensor(rng.choice([0, 4])),
        None,
        -100,
    ]


def _valid_one_hot(rng: random.Random) -> list:
    batch = _batch(rng, "soft")
    batch[2] = torch.eye(batch[1].shape[1])[batch[2].argmax(1)]
    return batch


def _valid_soft_masked(rng: random.Random) -> list:
    batch = _batch(rng, "soft")
    batch[3] = torch.arange(len(batch[2])) > 0
    batch[0] += " and a mask"
    return batch


def _none_soft(rng: random.Random) -> list:
    batch = _valid_soft_masked(rng)
    batch[3] = torch.zeros_like(batch[3])
    return batch


def _logits_dtype(rng: random.Random) -> list:
    batch = _hard(rng)
    batch[1] = batch[1].round().to(rng.choice([torch.int64, torch.int32]))
    return batch


def _logits_infinite(rng: random.Random) -> list:
    batch = _batch(rng)
    batch[1][_any_index(batch[1], rng)] = rng.choice([float("inf"), float("-inf")])
    return batch


def _target_short(rng: random.Random) -> list:
    batch = _hard(rng)
    batch[2] = batch[2].to(rng.choice([torch.int32, torch.int16]))
    return batch


def _target_float(rng: random.Random) -> list:
    batch = _hard(rng)
    batch[2] = batch[2].float()
    return batch


def _target_column(rng: random.Random) -> list:
    """(N, 1) labels for (N, C) logits."""
    batch = _batch(rng, "classes")
    batch[2] = batch[2][:, None]
    return batch


def _target_last(rng: random.Random) -> list:
    """Token logits with their classes in the last dimension; no mask."""
    batch = _batch(rng, "tokens")
    batch[1], batch[3] = batch[1].transpose(1, 2), None
    return batch


def _target_int_one_hot(rng: random.Random) -> list:
    batch = _valid_one_hot(rng)
    batch[2] = batch[2].long()
    return batch


def _range_high(rng: random.Random) -> list:
    """C itself, as when labels count from 1."""
    batch = _hard(rng)
    batch[2][_any_index(batch[2], rng)] = batch[1].shape[1]
    return batch


def _range_negative(rng: random.Random) -> list:
    batch = _hard(rng)
    batch[2][_any_index(batch[2], rng)] = -1
    return batch


def _range_foreign_ignore(rng: random.Random) -> list:
    """-100 in the labels of a loss that ignores something else."""
    batch = _batch(rng, "segments")
    batch[2].view(-1)[2], batch[4] = -100, 255
    batch[0] += " with ignore_index 255"
    return batch


def _soft_sum(rng: random.Random) -> list:
    batch = _batch(rng, "soft")
    batch[2][rng.randrange(len(batch[2]))] *= rng.choice([0.5, 2.0])
    return batch


def _soft_negative(rng: random.Random) -> list:
    """A row that sums to 1 and is no distribution."""
    batch = _batch(rng, "soft")
    row = torch.zeros(batch[2].shape[1])
    row[:2] = torch.tensor([1.5, -0.5])
    batch[2][rng.randrange(len(batch[2]))] = row
    return batch


def _mask_float(rng: random.Random) -> list:
    batch = _batch(rng, "tokens")
    batch[3] = batch[3].to(rng.choice([torch.float32, torch.int64]))
    return batch


def _mask_shape(rng: random.Random) -> list:
    """A mask of one entry a row, which would broadcast."""
    batch = _batch(rng, "tokens")
    batch[3] = batch[3][:, :1]
    return batch


def _none_scored(rng: random.Random) -> list:
    batch = _batch(rng, "tokens")
    batch[2][batch[3]] = -100  # what the mask keeps is ignored, and the rest is masked
    return batch


def _none_ignored(rng: random.Random) -> list:
    batch = _batch(rng, rng.choice(["classes", "segments"]))
    batch[2][...] = batch[4] = rng.choice([-100, 0])
    batch[0] += f" with ignore_index {batch[4]}"
    return batch


def _none_there(rng: random.Random) -> list:
    return ["a last batch of no examples", torch.zeros(0, 4), torch.zeros(0, dtype=torch.int64), None, -100]


def _two(rng: random.Random) -> list:
    batch = _range_high(rng)
    batch[1][_any_index(batch[1], rng)] = float("nan")
    return batch


def _three(rng: random.Random) -> list:
    """Infinite logits, short labels and a float mask."""
    batch = _mask_float(rng)
    batch[2] = batch[2].int()
    batch[1][_any_index(batch[1], rng)] = float("inf")
    return batch


VALID = (
    *map(_valid, KINDS),
    _valid_ignored, partial(_valid_ignored, choices=(-100,)), _valid_extreme, _valid_single, _valid_one_hot,
    _valid_soft_masked,
)  # fmt: skip
VIOLATED = (
    _logits_dtype, _logits_infinite, _target_short, _target_float, _target_column, _target_last,
    _target_int_one_hot, _range_high, _range_negative, _range_foreign_ignore, _soft_sum, _soft_negative,
    _mask_float, _mask_shape, _none_scored, _none_ignored, _none_there, _none_soft, _two, _three,
)  # fmt: skip


def _case(make: Callable, rng: random.Random, number: int) -> Case:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(rng.getrandbits(62))
        name, *args = make(rng)
    return Case(f"batch {number}: {name}", tuple(args))


def public() -> list[Case]:
    rng = random.Random(23)
    return [
        _case(make, rng, n) for n, make in enumerate((_valid("tokens"), _range_high, _mask_shape, _two), 1)
    ]


def hidden(rng: random.Random) -> list[Case]:
    makers = [*VALID, *VIOLATED]
    rng.shuffle(makers)
    return [_case(make, rng, n) for n, make in enumerate(makers, 1)]


EXERCISES = (
    Exercise(
        id="2.3",
        title="The contract of a batch",
        answer="violated",
        points=5,
        minutes=10,
        level="stretch",
        claims=("2.3",),
        hints=(
            "Write down, for a batch of each kind in the docstring, the shape of the positions: the logits' "
            "shape without its class dimension.",
            "Decide first which kind of target you hold. What is the one thing that soft targets have and "
            "class indices never do?",
            "For a false alarm, print the elements that you compare: an extreme finite value, a label that is "
            "to be ignored, or a comparison that broadcasts looks like a violation.",
        ),
        public=public,
        hidden=hidden,
        judge=judge,
        score=decisions,
    ),
)
