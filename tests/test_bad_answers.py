"""Whatever a stub returns, the check says what came back, what was wanted and where to look."""

import numpy
import pytest
import torch

from autograder.exercises import all_exercises
from autograder.item import run_item
from autograder.kernel import LocalAnswer, check

EXERCISES = {i: e for i, e in all_exercises().items() if e.kind != "value"}


def raises(*args):
    raise ValueError("dimensions do not match")


def changes_inputs(*args):
    for value in args:
        if isinstance(value, torch.Tensor):
            value.zero_()
        elif isinstance(value, (list, dict)):
            value.clear()
    return None


def changes_torch(*args):
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    torch.use_deterministic_algorithms(True)
    return None


BAD = {
    "None": lambda *args: None,
    "a text": lambda *args: "the answer",
    "an empty dict": lambda *args: {},
    "a tensor of an odd shape": lambda *args: torch.full((3, 1, 2), float("nan")),
    "a half-precision tensor": lambda *args: torch.ones(4, dtype=torch.float16),
    "a numpy array": lambda *args: numpy.ones(3),
    "an object": lambda *args: object(),
    "NaN": lambda *args: float("nan"),
    "an exception": raises,
    "changed inputs": changes_inputs,
    "changed settings of torch": changes_torch,
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("exercise_id", EXERCISES)
def test_a_bad_answer_is_told_and_earns_little(exercise_id, bad):
    exercise = EXERCISES[exercise_id]
    item = run_item(exercise, LocalAnswer(BAD[bad]), None)
    assert item.score < 1 and item.outcome != "right"
    failed = [case for case in item.cases if not case.verdict.passed]
    assert failed
    for case in failed:
        assert case.verdict.observed and case.verdict.expected and case.verdict.look, case
    if bad == "an exception" and exercise.kind == "function":
        assert "dimensions do not match" in failed[0].verdict.observed


def test_other_exercises_are_left_alone():
    before = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_rng_state()
    for exercise_id in EXERCISES:
        check(exercise_id, changes_torch)
    assert torch.get_default_dtype() == before[0] and torch.is_grad_enabled() == before[1]
    assert torch.equal(torch.get_rng_state(), before[2])
    assert not torch.are_deterministic_algorithms_enabled()
