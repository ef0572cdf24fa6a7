"""What need not be graded again: exactly that, and nothing that a submission could have put there."""

import os
import pickle
import shutil
import subprocess
import sys
import time
import zlib

import pytest

from autograder.cli import main
from autograder.grading import cache, known, run
from autograder.grading.cache import Cache, Kept
from autograder.grading.course import Course
from autograder.grading.known import Notebooks
from autograder.grading.restore import restore
from autograder.grading.run import grade_task
from autograder.grading.task import Graded, Task
from autograder.judge import checks_in

from . import example_class

NOTEBOOK = "07_failure_scenarios"


@pytest.fixture(scope="module")
def task(course_root):
    course = Course.at(course_root)
    submitted = course.release_notebook(NOTEBOOK)
    example_class.complete(example_class.exercise_cells(submitted))
    restored = restore(submitted, course.source_notebook(NOTEBOOK), course.release_notebook(NOTEBOOK))
    ids = [checks_in(c.source)[-1].exercise_id for c in restored.notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
    return Task("ada", NOTEBOOK, restored, {i: 1 for i in ids})


@pytest.fixture(scope="module")
def graded(task, sandbox):
    return grade_task(task, sandbox)


@pytest.fixture
def kept(task, graded, tmp_path):
    notebooks = Notebooks(Cache(tmp_path), walls=True, force=False)
    notebooks.keep(task, graded)
    return notebooks


def test_an_unchanged_notebook_stands(kept, task, graded):
    assert kept.recall(task) == graded
    assert Notebooks(kept.cache, walls=True, force=True).recall(task) is task


@pytest.mark.parametrize("change", ["a cell", "a seed", "the walls", "code that runs cells"])
def test_what_hangs_on_something_else_does_not_stand(kept, task, change, monkeypatch):
    if change == "a cell":
        other = pickle.loads(pickle.dumps(task))
        other.restored.notebook.cells[-1].source += " "
        task = other
    elif change == "a seed":
        task = Task(task.student, task.notebook, task.restored, {i: 2 for i in task.seeds})
    elif change == "the walls":
        kept = Notebooks(kept.cache, walls=False, force=False)
    else:
        monkeypatch.setattr(cache, "code_of_running", lambda: "other code")
    assert kept.recall(task) is task


def test_only_the_items_of_a_changed_exercise_are_judged_again(kept, task, graded, sandbox, monkeypatch):
    monkeypatch.setattr(known, "code_of", lambda i: "changed" if i == "7.2" else cache.code_of(i))
    again = kept.recall(task)
    assert set(graded.items) - set(again.known) == {"check-7-2"} and len(again.known) == len(graded.items) - 1
    judged = []
    run_item = run.run_item
    monkeypatch.setattr(run, "run_item", lambda exercise, *rest: judged.append(exercise.id) or run_item(exercise, *rest))
    result = grade_task(again, sandbox)
    assert judged == ["7.2"]
    assert result.items == graded.items and result.judged == graded.judged
    assert [c.source for c in result.notebook.cells] == [c.source for c in graded.notebook.cells]


def test_code_of_an_exercise_is_its_own_and_what_it_imports(monkeypatch):
    read = cache.Path.read_text
    changed = {"joint_shuffle.py": "7.1a", "stable_logprob.py": "7.2", "_chain_cases.py": "3.3"}
    before = {i: cache.code_of(i) for i in changed.values()}
    for name, exercise_id in changed.items():
        with monkeypatch.context() as patch:
            patch.setattr(cache.Path, "read_text", lambda p, *a, name=name, **k: read(p, *a, **k) + "#" * (p.name == name))
            after = {i: cache.code_of.__wrapped__(i) for i in before}
        assert [i for i in before if after[i] != before[i]] == [exercise_id]
    with monkeypatch.context() as patch:
        patch.setattr(cache.Path, "read_text", lambda p, *a, **k: read(p, *a, **k) + "#" * (p.name == "wire.py"))
        assert all(cache.code_of.__wrapped__(i) != digest for i, digest in before.items())


@pytest.mark.parametrize("content", [b"", b"\x00garbage", zlib.compress(b"not a pickle"), zlib.compress(pickle.dumps("text"))])
def test_an_entry_that_cannot_be_read_counts_as_missing(kept, task, content):
    (entry,) = kept.cache.folder.glob("*/*")
    entry.write_bytes(content)
    assert kept.recall(task) is task


def test_entries_are_the_owners_alone_and_can_be_pruned(tmp_path):
    store = Cache(tmp_path / "cache")
    store.put("aa11", Kept(Graded(None), {}))
    store.put("bb22", 2)
    (entry,) = (store.folder / "aa").iterdir()
    assert entry.stat().st_mode & 0o077 == 0 and entry.parent.stat().st_mode & 0o077 == 0
    for use, gone in ((True, 0), (False, 1)):
        os.utime(entry, (time.time() - 20 * 86_400,) * 2)
        assert not use or store.get("aa11")
        assert store.prune(days=10) == gone, "what was read lately stays"
    assert store.get("aa11") is None and store.get("bb22") == 2


def test_the_command_forgets_old_entries_before_it_grades(course_root, tmp_path, capsys):
    shutil.copytree(course_root, tmp_path / "course")
    store = Cache(Course.at(tmp_path / "course").home / "cache")
    store.put("aa11", 1)
    os.utime(next(store.folder.glob("*/*")), (time.time() - 20 * 86_400,) * 2)
    assert main(["--course", str(tmp_path / "course"), "grade", "--prune", "10"]) == 2, "nobody handed in"
    assert "1 stored results forgotten" in capsys.readouterr().out and not list(store.folder.glob("*/*"))


def test_a_command_starts_without_torch():
    code = "import sys, autograder.cli, autograder.grading.engine; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
