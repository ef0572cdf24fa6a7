"""Exercise 9.1: five short questions, each answered by a counterexample or by decisions on fresh cases."""

from __future__ import annotations

import math
import random
import warnings
from typing import Any, Iterator

import numpy as np
import torch
import torch.nn.functional as F

from ..result import Case, Verdict
from . import _retention_cases as cases
from .base import Exercise, decisions, describe, right, wrong

NEAR_ZERO = 0.05  # a mean cross entropy below it counts as memorized
STEPS = 3000


# Q1: what does one-batch overfitting prove?


def linear_loss(x: torch.Tensor, labels: torch.Tensor, classes: int) -> float:
    """Mean cross entropy of a linear layer with bias after descent on it; stops once it is near zero."""
    rows = np.column_stack([x.double().numpy(), np.ones(len(x))])
    target = np.eye(classes)[labels.numpy()]
    weight = np.zeros((rows.shape[1], classes))
    rate = 4.0 / np.square(rows).sum(1).max()  # the loss's curvature is below half of that sum
    for _ in range(STEPS):
        z = rows @ weight
        z -= z.max(1, keepdims=True)
        p = np.exp(z)
        p /= p.sum(1, keepdims=True)
        loss = -np.log((p * target).sum(1)).mean()
        if loss < NEAR_ZERO:
            break
        weight -= rate * rows.T @ (p - target) / len(rows)
    return float(loss)


def judge_proof(case: Case, answer: Any) -> Verdict:
    """The first labels are fitted by the judge; the second must contradict themselves on equal inputs."""
    x, y, classes = case.args
    shape = "a tuple (memorized, impossible)"
    if type(answer) is not tuple or len(answer) != 2:
        return wrong(describe(answer), shape, "compare what you return with the docstring")
    memorized, impossible = answer
    complaint = _no_labels(memorized, y, classes)
    if complaint:
        return wrong(f"memorized: {complaint}", *_LABELS)
    kept = int((memorized == y).sum())
    if kept:
        return wrong(f"memorized: {kept} of {len(y)} labels are still the true ones", "not one true label",
                     "print (memorized == y).sum(); chance leaves some of them true")  # fmt: skip
    loss = linear_loss(x, memorized, classes)
    observed = f"memorized: no label true, a linear layer's loss {'near zero' if loss < NEAR_ZERO else f'{loss:.2f}'}"
    if not loss < NEAR_ZERO:
        return wrong(observed, f"a loss below {NEAR_ZERO} after {STEPS} steps",
                     "the true labels can be memorized: which relabeling keeps what makes that so?")  # fmt: skip
    return _judge_impossible(x, y, classes, impossible, observed)


def _judge_impossible(x: torch.Tensor, y: torch.Tensor, classes: int, answer: Any, so_far: str) -> Verdict:
    _, group = torch.unique(x, dim=0, return_inverse=True)
    twins = int(group.max()) + 1 < len(x)
    wanted = "labels that no function of x can have, or None where every labeling is some function's"
    if answer is None:
        if not twins:
            return right(f"{so_far}; impossible: None")
        return wrong(f"{so_far}; impossible: None", wanted, "compare the inputs with each other")
    complaint = _no_labels(answer, y, classes)
    if complaint:
        return wrong(f"impossible: {complaint}", *_LABELS)
    torn = any(len(answer[group == g].unique()) > 1 for g in range(int(group.max()) + 1))
    observed = f"{so_far}; impossible: labels that {'contradict themselves' if torn else 'a large net can fit'}"
    if torn:
        return right(observed)
    return wrong(observed, wanted, "when must every model, however large, give two examples the same output?")


_LABELS = ("an int64 tensor (B,) of classes", "labels in the shape, dtype and range of y")


def _no_labels(labels: Any, y: torch.Tensor, classes: int) -> str:
    """Why this can't be a relabeling of y; empty when it is one."""
    if type(labels) is not torch.Tensor or labels.dtype != torch.int64 or labels.shape != y.shape:
        return describe(labels)
    return "" if bool(((labels >= 0) & (labels < classes)).all()) else "labels outside the classes"


# Q2: what does anomaly detection do?

REPORTS = ("raises", "silent", "finite")


def report(values: list[float], ops: list[str]) -> str:
    """What anomaly mode does on a chain of operations, and whether there was something to tell."""
    steps = [torch.tensor(values, dtype=torch.float32, requires_grad=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with torch.autograd.detect_anomaly(check_nan=True):
                for op in ops:
                    steps.append(getattr(torch, op)(steps[-1]))
                loss = steps[-1].sum()
                gradients = torch.autograd.grad(loss, steps)
        except RuntimeError:
            return "raises"
    return "finite" if all(bool(t.isfinite().all()) for t in (*steps, loss, *gradients)) else "silent"


def judge_anomaly(case: Case, answer: Any) -> Verdict:
    look = "take the chain backward by hand: what reaches each operation, times which slope?"
    return _decision(answer, report(*case.args), REPORTS, look)


# Q3: what does a loss near log C mean?

MEANINGS = ("uniform", "same for all", "by row", "elsewhere")


def meaning(logits: torch.Tensor, targets: torch.Tensor) -> str:
    """What the predictions are, measured on their probabilities in float64."""
    classes, p = logits.shape[1], logits.double().softmax(1)
    if not abs(F.cross_entropy(logits.double(), targets).item() - math.log(classes)) <= 0.01:
        return "elsewhere"
    if bool((p - 1 / classes).abs().max() <= 0.1 / classes):
        return "uniform"
    return "same for all" if bool((p - p[0]).abs().max() <= 0.01) else "by row"


def judge_log_c(case: Case, answer: Any) -> Verdict:
    look = "print softmax(logits) and compare its rows with 1/C and with each other"
    return _decision(answer, meaning(*case.args), MEANINGS, look)


def _decision(answer: Any, truth: str, choices: tuple[str, ...], look: str) -> Verdict:
    wanted = f"one of {', '.join(map(repr, choices))}"
    if type(answer) is not str or answer not in choices:
        return wrong(describe(answer), wanted, "return one of the strings that the docstring names", group=truth)
    if answer == truth:
        return right(repr(answer), wanted, group=truth)
    return wrong(f"{answer!r}, which is not what this case measures", wanted, look, group=truth)


# Q4: why not the logarithm of softmax?


def judge_log_softmax(case: Case, answer: Any) -> Verdict:
    """Both losses of the returned logits are measured: by cross entropy in float64, naively in their own dtype."""
    loss, target, classes, dtype = case.args
    exists = case.truth
    group = "logits" if exists else "none"
    wanted = f"{dtype} logits of shape ({classes},), or None where there are none".replace("torch.", "")
    if answer is None:
        if not exists:
            return right("None", wanted, group=group)
        return wrong("None", wanted, "the loss fixes the target's probability: is it above the dtype's least number?",
                     group=group)  # fmt: skip
    if type(answer) is not torch.Tensor or answer.dtype != dtype or tuple(answer.shape) != (classes,):
        return wrong(describe(answer), wanted, "the docstring names the type, the shape and the dtype", group=group)
    if not bool(answer.isfinite().all()):
        return wrong("logits that are not all finite", "finite logits", "an infinite logit proves nothing", group=group)
    entropy = F.cross_entropy(answer.double()[None], torch.tensor([target])).item()
    naive = -torch.log(torch.softmax(answer, 0))[target].item()
    observed = f"cross entropy {entropy:.4g}, minus log of softmax {naive:.4g}"
    wanted = f"cross entropy {loss:.4g} within 1 %, minus log of softmax inf"
    if not abs(entropy - loss) <= 0.01 * loss:
        return wrong(observed, wanted, "which difference of logits makes the loss?", group=group)
    if not naive == math.inf:
        return wrong(observed, wanted, "put your logits to the test yourself; what if they can't pass it?", group=group)
    return right(observed, wanted, group=group)


# Q5: what starts and stops the recording of CUDA memory?


class _Failed(Exception):
    pass


def outcome(program: dict[str, list[str]]) -> dict:
    """Whether recording is on in the end, and for each snapshot whether it was on when it was written."""
    state: dict[str, Any] = {"recording": False, "snapshots": {}}

    def run(block: str) -> None:
        for call in program[block]:
            if call == cases.FAILS:
                raise _Failed
            if call.startswith("_record_memory_history("):
                state["recording"] = "enabled=None" not in call
            elif call.startswith("_dump_snapshot("):
                state["snapshots"][call.split('"')[1]] = state["recording"]

    try:
        run("before")
        try:
            run("try")
        finally:
            run("finally")
        run("after")
    except _Failed:
        pass
    return state


def judge_recording(case: Case, answer: Any) -> Verdict:
    truth = outcome(case.args[0])
    group = repr(truth)
    wanted = "a dict with 'recording' (bool) and 'snapshots' (a dict from file name to bool)"
    form = (
        type(answer) is dict
        and set(answer) == {"recording", "snapshots"}
        and type(answer["recording"]) is bool
        and type(answer["snapshots"]) is dict
        and all(type(k) is str and type(v) is bool for k, v in answer["snapshots"].items())
    )
    if not form:
        return wrong(describe(answer), wanted, "compare what you return with the docstring", group=group)
    observed = f"recording {answer['recording']}, snapshots {answer['snapshots']}"
    if answer == truth:
        return right(observed, wanted, group=group)
    if set(answer["snapshots"]) != set(truth["snapshots"]):
        part, look = "which files are written", "which calls are reached, and in which order?"
    elif answer["snapshots"] != truth["snapshots"]:
        part, look = "whether recording was on at each dump", "what is on at the moment of each dump?"
    else:
        part, look = "whether recording is on in the end", "which calls start it, which stop it, which do neither?"
    return wrong(f"{observed}; not so: {part}", wanted, look, group=group)


def exists(loss: float, dtype: torch.dtype) -> bool:
    """Whether a probability of exp(-loss) is rounded to zero. Cases keep clear of the edge."""
    least = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps  # the smallest subnormal number
    return loss > math.log(2) - math.log(least)


def _log_softmax_cases(drawn: Iterator[tuple]) -> Iterator[Case]:
    for loss, target, classes, dtype in drawn:
        name = f"{str(dtype).removeprefix('torch.')}, {classes} classes, loss {loss:.6g}"
        yield Case(name, (loss, target, classes, dtype), exists(loss, dtype))


def _exercise(letter: str, title: str, answer: str, hints: tuple[str, str, str], **more: Any) -> Exercise:
    return Exercise(id=f"9.1{letter}", title=title, answer=answer, points=1, minutes=2, level="core",
                    claims=("9.1",), hints=hints, **more)  # fmt: skip


EXERCISES = (
    _exercise(
        "a",
        "What does one-batch overfitting prove?",
        "counterexamples",
        (
            "Run the one-batch test in your head on two labelings: which property of the labels makes a "
            "linear layer fit them? Which changes of the labels leave that property alone?",
            "Count (memorized == y).sum(): shuffling keeps some labels true and, with few inputs a row, mixes "
            "the classes. What about changing what each class is called?",
            "For the second: print torch.unique(x, dim=0).shape. What must every model do with two rows "
            "that are equal to the last digit, and with two that are only close?",
        ),
        public=lambda: cases.batches(random.Random(901), public=True),
        hidden=cases.batches,
        judge=judge_proof,
    ),
    _exercise(
        "b",
        "What does anomaly detection do?",
        "anomaly_report",
        (
            "Ask the tool: run one of the failing chains under torch.autograd.detect_anomaly(check_nan=True), "
            "forward and backward, and see whether it raises.",
            "Then ask what the tool did not look at: keep every value on the way, call retain_grad() on each, "
            "and print which are finite after backward.",
            "Anomaly mode looks for one kind of number, in one direction. Compare a failing chain with one "
            "that passes: what is 0 * inf, what is 1 * inf, and in which of the two directions does each occur?",
        ),
        public=lambda: cases.chains(random.Random(902), public=True),
        hidden=cases.chains,
        judge=judge_anomaly,
        score=decisions,
    ),
    _exercise(
        "c",
        "What does a loss near log C mean?",
        "what_it_means",
        (
            "Measure the mean loss first, beside math.log(C) for the C of these logits; only then ask what "
            "the rows predict.",
            "Look at probabilities, not at logits: adding a number to a whole row changes no prediction.",
            "Two comparisons tell three cases apart: every probability against 1/C, and every row against "
            "the first. Print the largest difference of each for the case that fails.",
        ),
        public=lambda: cases.predictions(random.Random(903), public=True),
        hidden=cases.predictions,
        judge=judge_log_c,
        score=decisions,
    ),
    _exercise(
        "d",
        "Why not the logarithm of softmax?",
        "breaking_logits",
        (
            "Write the two losses of your logits side by side: F.cross_entropy in float64, and minus the "
            "logarithm of softmax in the dtype of the case.",
            "Which probability has the target when the loss is L? What is the smallest number above zero that "
            "the dtype can hold?",
            "Two different logits are enough for a given loss: how far apart are they? Then test what you built "
            "before you return it, and say so when it does not do what was asked.",
        ),
        public=lambda: _log_softmax_cases(cases.losses(random.Random(904), public=True)),
        hidden=lambda rng: _log_softmax_cases(cases.losses(rng)),
        judge=judge_log_softmax,
        score=decisions,
    ),
    _exercise(
        "e",
        "What starts and stops the recording of CUDA memory?",
        "recording_after",
        (
            "Go through the program with a pencil: one column for 'on', one for files; which call changes which?",
            "A failure leaves its block at once. Which blocks run after a failure in `try`, which after one in "
            "`before`, and which after one in `finally`?",
            "Of the calls to torch.cuda.memory in the failing case, which changes the recording, which writes a "
            "file, and which only reads or frees? Does writing a snapshot end the recording?",
        ),
        public=lambda: cases.programs(random.Random(905), public=True),
        hidden=cases.programs,
        judge=judge_recording,
        score=decisions,
    ),
)
