"""Verify on a course of one exercise: it finds each way in which a grader can be wrong."""

import ast
from dataclasses import replace

import nbformat
import pytest

from autograder import verify as room
from autograder.build import Course, delimiters
from autograder.build.text import fill, read_text
from autograder.exercises.base import right
from autograder.verify.forks import run_forked
from autograder.verify.mutate import mutants
from autograder.verify.sources import equivalents

from .courses import exercises_kept, fixture_exercise, make_course  # noqa: F401

RIGHT = "def spread(values):\n    return max(values.tolist()) - min(values.tolist())\n"
WRONG = "def spread(values):\n    return max(values.tolist())\n"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with one right and one wrong answer, its stub released without nbgrader's help."""
    root = make_course(tmp_path / "course")
    nb = fill(read_text(Course(root).texts()[0]), fixture_exercise.find)
    for one in nb.cells:
        stub = "\n".join(delimiters.outside(one.source))
        if one.id == "spread":
            stub += "\n    raise NotImplementedError()"
        one.source = stub
    Course(root).released.mkdir(parents=True)
    nbformat.write(nb, Course(root).released / "01_fixture.ipynb")
    folder = root / "tests" / "answers" / "0.9"
    folder.mkdir(parents=True)
    (folder / "right_lists.py").write_text(RIGHT)
    (folder / "wrong_largest.py").write_text(WRONG)
    monkeypatch.setattr(room, "ANSWER_SECONDS", (2.0, 4.0))
    return root


def _verify(root):
    return room.verify(root, {"0.9": fixture_exercise.EXERCISE}, seeds=(1, 2))


def _answer(root, name, text):
    (root / "tests" / "answers" / "0.9" / name).write_text(text)


def test_all_is_well(course):
    report = _verify(course)
    assert report.found == [] and report.good()
    counts = report.counts()
    killed = counts.pop("mutants_killed")
    assert killed == counts.pop("mutants_total") >= 6
    names = "exercises stubs_failing right_accepted right_total wrong_refused wrong_total"
    assert list(counts) == names.split()
    assert set(counts.values()) == {1}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("right_bad.py", WRONG, "right_bad.py: score 0.00"),
        ("right_raises.py", "raise ValueError('no')", "right_raises.py: score 0.00 to 0.00, crashed (ValueError: no)"),
        ("right_forever.py", "while True: pass", "right_forever.py: timed out"),
        ("wrong_good.py", RIGHT, "wrong_good.py: score 1.00 to 1.00, right"),
        ("equivalent.txt", "L9:Nothing->all: no reason", "'L9:Nothing->all', which is no mutant"),
        ("equivalent.txt", "L5:Sub->Add: it is not", "lists 'L5:Sub->Add', but it fails"),
        ("equivalent.txt", "L5:Sub->Add", "write `name: reason`"),
    ],
)
def test_what_is_off_is_named(course, name, text, words):
    _answer(course, name, text)
    report = _verify(course)
    assert not report.good()
    assert words in report.table()


@pytest.mark.parametrize(
    "text",
    [
        "def spread(values):\n    while True: pass\n",
        "def spread(values):\n    kept = []\n    while True: kept.append(bytearray(10**8))\n",
        "import os\ndef spread(values):\n    os._exit(0)\n",
    ],
    ids=["forever", "memory", "exit"],
)
def test_wrong_answers_that_break_their_process_are_refused(course, text):
    _answer(course, "wrong_more.py", text)
    report = _verify(course)
    assert report.found == [] and report.wrong_refused == 2


def test_a_lax_judge_lets_mutants_live(course):
    lax = replace(fixture_exercise.EXERCISE, judge=lambda case, answer: right("a value"))
    report = room.verify(course, {"0.9": lax}, seeds=(1,))
    assert report.mutants_killed < report.mutants_total and "mutant survives: L5:Sub->Add" in report.table()


def test_an_exercise_without_text_is_off(course):
    report = room.verify(course, {"0.9": fixture_exercise.EXERCISE, "0.8": _other("0.8")}, seeds=(1,))
    assert "no text in solutions/ checks it" in report.table()


def _other(name):
    return replace(fixture_exercise.EXERCISE, id=name, answer="other")


SOURCE = '''
def f(x, *, k=3):
    """A docstring, left alone: 1 < 2."""
    if x < 1 and not k:
        return x.mean(dim=1)
    kept: "Annotated[int, 5]" = [v for v in x if v > 0]
    return f"{k + 1}" if True else -k
'''


def test_mutants_are_named_by_line_and_change():
    names = [mutant.name for mutant in mutants(SOURCE)]
    assert len(names) == len(set(names))
    for name in ["L4:Lt->LtE", "L4:And->Or", "L4:Not->none", "L4:If->not", "L4:If->pass", "L4:1->0", "L4:1->2",
                 "L5:mean->sum", "L5:dim=->none", "L5:Return->None", "L6:if->not", "L6:Gt->GtE", "L6:0->-1",
                 "L7:True->False", "L7:IfExp->not", "L7:USub->none", "L2:3->4"]:  # fmt: skip
        assert name in names
    assert not any(name.startswith("L3") or "5" in name.split(":")[1] for name in names)


def test_mutants_keep_to_the_solution_and_differ_from_it():
    inside = list(mutants(SOURCE, range(4, 6)))
    assert inside and all(mutant.name.startswith(("L4", "L5")) for mutant in inside)
    plain = ast.dump(ast.parse(SOURCE))
    assert all(ast.dump(mutant.tree) != plain for mutant in mutants(SOURCE))
    for mutant in mutants(SOURCE):
        compile(mutant.tree, mutant.name, "exec")


def test_forks_run_apart_and_all_end():
    seen = []
    calls = [(n, (lambda n=n: seen.append(n) or n * n), 5.0) for n in range(6)]
    assert {key: ended.value for key, ended in run_forked(calls, 3)} == {n: n * n for n in range(6)}
    assert seen == []


def test_equivalents_skip_blank_lines_and_comments(tmp_path):
    (tmp_path / "equivalent.txt").write_text("# why\n\nL1:a->b: the same: always\n")
    assert equivalents(tmp_path) == {"L1:a->b": "the same: always"}
