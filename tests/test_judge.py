"""The judge: the same verdict as in a kernel, reached where no student code runs."""

import os
import re
import stat
from pathlib import Path

import pytest
import torch

from autograder.exercises import UnknownExercise, all_exercises, find
from autograder.exercises.base import Exercise, right, wrong
from autograder.item import run_item
from autograder.judge import SecretUnreadable, checks_in, course_secret, seed_for
from autograder.judge.remote import RemoteAnswer
from autograder.kernel import LocalAnswer, check, hint
from autograder.live import Live
from autograder.result import Case

ANSWERS = Path(__file__).parent / "answers"
SEED = 20261201


def exercise(judge=None, cases=(Case("doubling", (torch.arange(3.0),)),), **more):
    def verdict(case, answer):
        ok = isinstance(answer, torch.Tensor) and torch.equal(answer, case.args[0] * 2)
        return right("ok") if ok else wrong(str(answer), "twice the input", "look at the values")

    fields = dict(
        id="0.0", title="Demo", answer="f", points=4, minutes=1, level="core", claims=(), hints=("a", "b", "c"),
        public=lambda: cases, hidden=lambda rng: cases, judge=judge or verdict, seconds=1.0,
    )  # fmt: skip
    return Exercise(**{**fields, **more})


def remote(sandbox, source, task, name="f", seed=SEED):
    """The item for a student's source, judged through the sandbox."""
    process = sandbox.open()
    process.cell("import torch\nfrom torch import nn\nimport torch.nn.functional as F", 10)
    process.cell(source, 10)
    answer = RemoteAnswer(name, process.fork, "the grader's judge")
    try:
        return run_item(task, answer, seed)
    finally:
        answer.close()
        process.kill()


def local(source, name):
    space = {}
    exec(compile(source, "answer.py", "exec"), space)
    return LocalAnswer(space[name])


@pytest.mark.parametrize("exercise_id", list(all_exercises()))
@pytest.mark.parametrize("style", ["right_", "wrong_"])
def test_the_same_verdicts_as_in_a_kernel(sandbox, exercise_id, style):
    task = find(exercise_id)
    source = sorted((ANSWERS / exercise_id).glob(f"{style}*.py"))[0].read_text()
    here, there = run_item(task, local(source, task.answer), SEED), remote(sandbox, source, task, task.answer)
    assert there.where == "the grader's judge" and here.where == "this kernel"
    assert there.score == here.score and (there.score == 1) == (style == "right_")
    assert [(c.name, c.verdict.passed, c.verdict.parts) for c in there.cases] == [
        (c.name, c.verdict.passed, c.verdict.parts) for c in here.cases
    ]


@pytest.mark.parametrize(
    "source, outcome, said",
    [
        ("def f(x): return x * 2", "right", ""),
        ("def f(x): return x.mul_(2)", "right", ""),
        ("def f(x): raise NotImplementedError()", "not attempted", "as it came"),
        ("", "not attempted", "not defined"),
        ("f = 3", "crashed", "the function itself"),
        ("def f(x):\n    y = {}\n    return y['key']", "crashed", "KeyError: 'key'"),
        ("import os\ndef f(x): os._exit(0)", "crashed", "exit code 0"),
        ("def f(x):\n    while True: pass", "timed out", "1 s"),
        ("def f(x): return bytearray(2_000_000_000)", "out of memory", "MemoryError"),
        ("def f(x): return torch.zeros(10**9)", "out of memory", "allocate"),
        ("def f(x): return torch.zeros(20_000_000)", "output too large", "limit"),
        ("class Liar(float):\n    __eq__ = lambda s, o: True\ndef f(x): return Liar(1)", "wrong", "Liar"),
        ("class T(torch.Tensor):\n    __eq__ = lambda s, o: True\ndef f(x): return (x*2).as_subclass(T)", "wrong", "T"),
        ("class P:\n    def __reduce__(self): return (print, ('run',))\ndef f(x): return P()", "wrong", "P"),
        ("import sys\ndef f(x):\n    import warnings; warnings.warn('w'); sys.stderr.write('e'); return x * 2", "right", ""),
        ("torch.equal = lambda *a: True\ntorch.allclose = torch.equal\nabs = lambda x: 0\ndef f(x): return x", "wrong", ""),
        ("def f(x):\n    import builtins\n    builtins.isinstance = lambda *a: True\n    return 1.0", "crashed wrong", ""),
        ("def f(x):\n    import autograder.wire as w\n    w.encode = lambda *a, **k: b'forged'\n    return x", "crashed", "not a message"),
    ],
)
def test_how_a_call_ends(sandbox, source, outcome, said):
    item = remote(sandbox, source, exercise())
    assert item.outcome in outcome and said in item.cases[0].verdict.observed
    assert item.mark == (4 if outcome == "right" else 0)


def test_a_traceback_shows_the_students_lines_and_none_of_ours(sandbox):
    source = "def helper(v):\n    return v.no_such_thing\n\ndef f(x):\n    return helper(x)"
    for item in (remote(sandbox, source, exercise()), run_item(exercise(), local(source, "f"), SEED)):
        text = item.cases[0].verdict.observed
        assert "in helper" in text and "in f" in text and text.endswith("'no_such_thing'")
        assert not re.search(r"autograder/|in call|in reply|in _call", text)


def test_what_an_answer_leaves_behind_does_not_reach_the_next_item(sandbox):
    process = sandbox.open()
    process.cell("import torch\ndef f(x):\n    torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False)\n    torch.equal = None\n    return x * 2\ndef g(x): return [str(torch.get_default_dtype()), torch.is_grad_enabled()]", 10)
    first, second = RemoteAnswer("f", process.fork, "judge"), RemoteAnswer("g", process.fork, "judge")
    assert run_item(exercise(), first, SEED).score == 1
    clean = exercise(judge=lambda case, answer: right("") if answer == ["torch.float32", True] else wrong(str(answer), "", ""))
    assert run_item(clean, second, SEED).score == 1
    first.close(), second.close(), process.kill()


class Counter(Live):
    """A live object: `add` counts in the judge."""

    asks = ("add",)

    def __init__(self):
        self.total, self.secret = 0, "fault"

    def add(self, amount):
        if type(amount) is not int:
            raise ValueError("a whole number is wanted")
        self.total += amount
        return {"total": self.total, "as tensor": torch.tensor(self.total)}


def test_a_live_object_stays_in_the_judge(sandbox):
    cases = (Case("first", (Counter(),)), Case("second", (Counter(),)))
    task = exercise(judge=lambda c, a: right("") if a == 5 else wrong(str(a), "5", ""), cases=cases)
    source = "def f(run):\n    run.add(2)\n    assert not hasattr(run, 'secret') and not hasattr(run, 'total')\n    return int(run.add(3)['as tensor'])"
    assert remote(sandbox, source, task).score == 1, "each case gets a fresh copy"
    assert run_item(task, local(source, "f"), SEED).score == 1
    for source, said in [
        ("def f(run): return run.add('x')", "add: a whole number is wanted"),
        ("def f(run): return run.add(object())", "add"),
        ("def f(run): return run.reset()", "it has no 'reset'"),
        ("def f(run):\n    run._names = ('__init__', 'secret')\n    return run.secret()", "not offered here"),
    ]:
        assert said in remote(sandbox, source, task).cases[0].verdict.observed


def test_hidden_cases_are_fresh_for_each_student_and_the_same_at_every_regrade(tmp_path):
    secret = course_secret(tmp_path / "secret")
    assert secret == course_secret(tmp_path / "secret") and len(secret) == 32
    assert stat.S_IMODE(os.stat(tmp_path / "secret").st_mode) == 0o600
    assert seed_for(secret, "ada", "1.1") == seed_for(secret, "ada", "1.1")
    seeds = {seed_for(secret, s, e) for s in ("ada", "bob", "ad") for e in ("1.1", "9.2", "a/1.1")}
    assert len(seeds) == 9


@pytest.mark.parametrize("content", ["", "xyz", "00" * 31, "\udcff".encode("utf-8", "surrogateescape")])
def test_a_damaged_secret_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "secret"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(0o600)
    with pytest.raises(SecretUnreadable, match="secret"):
        course_secret(path)
    assert path.exists()


def test_a_secret_that_others_may_read_is_refused(tmp_path):
    course_secret(tmp_path / "secret")
    (tmp_path / "secret").chmod(0o644)
    with pytest.raises(SecretUnreadable, match="chmod 600"):
        course_secret(tmp_path / "secret")


@pytest.mark.parametrize(
    "source",
    ["check('1.1', f, hidden=flag)", "check('1.1', open('x'))", "print(1)", "check(1.1, f)", "x = check('1.1', f)", "check('1.1'", "check('1.1', f, seed=3)"],
)
def test_a_graded_cell_holds_checks_alone(source):
    with pytest.raises(ValueError, match="line 1"):
        checks_in(source)


def test_unknown_id_names_the_nearest():
    with pytest.raises(UnknownExercise, match="did you mean '1.1'"):
        check("1.1.", print)


def test_check_shows_a_table_and_is_a_finite_float_in_text(capfd):
    task = find("1.1")
    source = sorted((ANSWERS / "1.1").glob("right_*.py"))[0].read_text()
    report = check("1.1", local(source, task.answer).answer)
    assert float(repr(report)) == task.points
    assert "hidden cases" in report._repr_html_(), "it must not sound as if all were well"
    hidden = check("1.1", local(source, task.answer).answer, hidden=True)
    assert float(repr(hidden)) == task.points and "this kernel" in hidden._repr_html_()
    assert capfd.readouterr() == ("", ""), "stock nbgrader scores a cell 0 for anything on stderr"


def test_check_keeps_stderr_and_global_state_away():
    def rude(*args, **kwargs):
        os.write(2, b"from C++")
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        return float("nan")

    assert repr(check("1.1", rude)) == "0.0"
    assert torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled()


def test_hints_come_one_by_one():
    shown = [repr(hint("1.1")).count("Hint") for _ in range(4)]
    assert shown == [1, 2, 3, 3]
