"""A class, graded by both roads: `autograder grade` and stock `nbgrader autograde` in the course folder."""

import csv
import json
import os
import re
import shutil
import stat
import subprocess

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.build import Course as Built
from autograder.build.leaks import HIDDEN, PLACE, SECRET, leaks
from autograder.exercises import all_exercises
from autograder.grading.course import Course
from autograder.judge import checks_in

from . import example_class
from .conftest import needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.long]

STOCK_FEEDBACK = ("blank", "plausible")  # each takes nbgrader ten seconds


def run(root, *command, ok=True):
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"})
    assert not ok or done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def scores(root):
    """Points by student and graded cell, read from the gradebook."""
    course = Course.at(root)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        return {
            s.student.id: {g.name: (g.auto_score, g.manual_score) for n in s.notebooks for g in n.grades}
            for s in gradebook.assignment_submissions(course.assignment)
        }


def totals(root):
    return {student: sum(a for a, _ in items.values()) for student, items in scores(root).items()}


@pytest.fixture(scope="module")
def ours(course_root, tmp_path_factory):
    """The example class graded by `autograder grade`: (root, what it printed)."""
    root = tmp_path_factory.mktemp("ours") / "course"
    shutil.copytree(course_root, root, ignore=shutil.ignore_patterns("gradebook.db"))
    run(root, "nbgrader", "generate_assignment", "s19-debugging", "--force")
    example_class.write(Course.at(root))
    return root, run(root, "autograder", "grade").stdout


@pytest.fixture(scope="module")
def stock(ours, course_root, tmp_path_factory):
    """The same class and the same secret, graded by nbgrader's own commands."""
    root = tmp_path_factory.mktemp("stock") / "course"
    shutil.copytree(course_root, root, ignore=shutil.ignore_patterns("gradebook.db"))
    run(root, "nbgrader", "generate_assignment", "s19-debugging", "--force")
    example_class.write(Course.at(root))
    shutil.copy(ours[0] / "grading" / "secret", root / "grading" / "secret")
    run(root, "nbgrader", "autograde", "s19-debugging")
    for student in STOCK_FEEDBACK:
        run(root, "nbgrader", "generate_feedback", "s19-debugging", f"--student={student}")
    run(root, "nbgrader", "export", "--to", "grading/grades.csv")
    return root


def points(*ids):
    every = all_exercises()
    return sum(every[i].points for i in (ids or every))


def built_exercises(root):
    course = Course.at(root)
    return [i for name in course.notebooks() for i in example_class.exercise_cells(course.release_notebook(name))]


def test_scores_of_the_example_class(ours):
    root, _ = ours
    total = totals(root)
    whole = points(*built_exercises(root))
    assert total["complete"] == whole
    assert total["blank"] == total["assert-deleter"] == 0
    assert total["kernel-dies"] == whole - points("1.5a")
    half = 0
    for name in Course.at(root).notebooks():
        ids = list(example_class.exercise_cells(Course.at(root).release_notebook(name)))
        half += points(*ids[: (len(ids) + 1) // 2]) if ids else 0
    assert total["half-done"] == half
    right_but = whole - points("9.2", "1.1")
    assert right_but <= total["plausible"] < right_but + points("9.2", "1.1") - 3


def test_outcomes_of_the_example_class(ours):
    report = json.loads((ours[0] / "grading" / "report.json").read_text())
    outcomes = {s["student"]: {i: item["outcome"] for i, item in s["items"].items()} for s in report["students"]}
    assert report["sandbox"] is True
    assert set(outcomes["complete"].values()) == {"right"}
    assert set(outcomes["blank"].values()) == set(outcomes["assert-deleter"].values()) == {"not attempted"}
    assert outcomes["kernel-dies"]["1.5a"] == "crashed" and outcomes["kernel-dies"]["1.5b"] == "right"
    assert outcomes["plausible"]["9.2"] == "partly right" and outcomes["plausible"]["1.1"] != "right"


def test_the_table_names_student_score_and_outcomes(ours):
    _, printed = ours
    for student in example_class.STUDENTS:
        assert re.search(rf"(?m)^\s*{student}\s+[\d.]+ / 100\s+[✓◐✗–!↺]{{3}}\s", printed)
    assert "s a notebook" in printed and "Traceback" not in printed and "Warning" not in printed


def test_both_roads_give_the_same_marks(ours, stock):
    assert scores(stock) == scores(ours[0])


def test_export_has_every_student(ours, stock):
    with open(stock / "grading" / "grades.csv", newline="", encoding="utf-8") as file:
        rows = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert rows == pytest.approx(totals(ours[0]))


@pytest.mark.parametrize("road", ["ours", "stock"])
def test_feedback_helps_and_gives_nothing_away(road, request):
    value = request.getfixturevalue(road)
    root = value[0] if road == "ours" else value
    secret = (root / "grading" / "secret").read_text().strip()
    pages = list((root / "grading" / "feedback").rglob("*.html"))
    of_each = len(Course.at(root).notebooks())
    wanted = len(example_class.STUDENTS) * (of_each + 1) if road == "ours" else len(STOCK_FEEDBACK) * of_each
    assert len(pages) == wanted, "our road adds a page for the session"
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "HIDDEN TESTS" not in text and "hidden=True" not in text and secret not in text
        assert "autograder/judge" not in text and "autograder/sandbox" not in text
    assert leaks(Built(root), root / "grading" / "feedback", (SECRET, HIDDEN, PLACE)) == []
    assert leaks(Built(root), root / "grading" / "feedback" / "blank") == []
    plausible = next(p for p in pages if "plausible" in str(p) and "01_" in p.name).read_text(encoding="utf-8")
    for word in ("Observed", "Expected", "Where to look", "the grader&#39;s judge", "points"):
        assert word in plausible or word.replace("&#39;", "'") in plausible or word.replace("&#39;", "&#x27;") in plausible


def test_no_answer_of_the_source_is_in_what_a_student_gets(ours):
    root, _ = ours
    for path in (root / "grading" / "autograded" / "blank").rglob("*.ipynb"):
        text = path.read_text()
        assert "BEGIN SOLUTION" not in text and "HIDDEN" not in text


def test_the_gradebook_says_what_happened(ours):
    course = Course.at(ours[0])
    with Gradebook(course.db_url, course.course_id) as gradebook:
        comments = [c.auto_comment for n in gradebook.find_submission(course.assignment, "kernel-dies").notebooks for c in n.comments]
    assert any(c and c.startswith("1.5a") and "crashed, 0 of" in c for c in comments)
    assert any(c and c.startswith("1.1") and "right" in c for c in comments)


def test_a_regrade_is_identical(ours):
    before = scores(ours[0])
    run(ours[0], "autograder", "grade", "--student", "plausible", "--workers", "1", "--force", "--no-feedback")
    again = run(ours[0], "autograder", "grade", "--no-feedback").stdout
    assert "plausible" in again and scores(ours[0]) == before
    assert scores(ours[0]) == before


def test_secret_is_the_owners_alone(ours):
    assert stat.S_IMODE((ours[0] / "grading" / "secret").stat().st_mode) == 0o600


def test_awkward_files_get_a_reason_and_stop_nobody(course_root, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(course_root, root, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback"))
    course = Course.at(root)
    release = {n: course.release / f"{n}.ipynb" for n in course.notebooks()}
    one = next(n for n in release if n.startswith("01"))

    def hand_in(student, files):
        folder = course.submitted / student / course.assignment
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        return folder

    solved = nbformat.read(release[one], as_version=4)
    example_class.complete(example_class.exercise_cells(solved))
    text = nbformat.writes(solved).encode()
    hand_in("renamed", {f"{one} (1).ipynb": text, "scratch.ipynb": b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'})
    hand_in("empty-file", {f"{one}.ipynb": b""})
    hand_in("not-json", {f"{one}.ipynb": b"{'a': 1"})
    hand_in("latin-1", {f"{one}.ipynb": text.replace(b"import torch", b"# caf\xe9")})
    hand_in("old-format", {f"{one}.ipynb": json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": [], "metadata": {}}]}).encode()})
    hand_in("nothing", {})
    hand_in("bad-date", {f"{one}.ipynb": text, "timestamp.txt": b"yesterday"})
    link = hand_in("link", {})
    (link / f"{one}.ipynb").symlink_to(course.source / f"{one}.ipynb")
    hand_in('O\'Brien, "Zoë" ünïcode', {f"{one}.ipynb": text})
    printed = run(root, "autograder", "grade", "--workers", "1").stdout
    report = {s["student"]: s for s in json.loads((root / "grading" / "report.json").read_text())["students"]}
    full = sum(all_exercises()[i].points for i in example_class.exercise_cells(solved))
    for student in ("renamed", "bad-date", 'O\'Brien, "Zoë" ünïcode'):
        assert report[student]["score"] == full, report[student]["notes"]
    for student, reason in [
        ("empty-file", "not a notebook"), ("not-json", "not a notebook"), ("latin-1", "not UTF-8"),
        ("old-format", ""), ("nothing", "was not handed in"), ("link", "plain file"),
    ]:  # fmt: skip
        assert report[student]["score"] == 0
        assert any(reason in note for note in report[student]["notes"]), (student, report[student]["notes"])
    assert "was taken for" in printed and "was ignored" in printed


def test_a_resubmission_never_shows_an_older_score(course_root, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(course_root, root, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback"))
    course = Course.at(root)
    name = next(n for n in course.notebooks() if n.startswith("01"))
    folder = course.submitted / "ada" / course.assignment
    folder.mkdir(parents=True)
    notebook = course.release_notebook(name)
    example_class.complete(example_class.exercise_cells(notebook))
    nbformat.write(notebook, folder / f"{name}.ipynb")
    run(root, "autograder", "grade", "--workers", "1", "--no-feedback")
    assert totals(root)["ada"] > 0
    blank = course.release_notebook(name)
    blank.cells = [c for c in blank.cells if not c.metadata.get("nbgrader", {}).get("grade")]
    nbformat.write(blank, folder / f"{name}.ipynb")
    run(root, "autograder", "grade", "--workers", "1", "--no-feedback")
    assert totals(root)["ada"] == 0


def test_without_walls_the_report_says_so(ours):
    printed = run(ours[0], "autograder", "grade", "--student", "blank", "--workers", "1", "--no-sandbox", "--no-feedback").stdout
    assert "without a sandbox" in printed
    assert json.loads((ours[0] / "grading" / "report.json").read_text())["sandbox"] is False


FOREIGN = """
c = get_config()
c.CourseDirectory.course_id = "foreign"
"""


@pytest.fixture(scope="module")
def foreign(course_root, tmp_path_factory):
    """Notebook 01 in somebody else's course: stock nbgrader, stock configuration, verdicts in the kernel."""
    root = tmp_path_factory.mktemp("foreign")
    (root / "nbgrader_config.py").write_text(FOREIGN)
    (root / "source" / "s19").mkdir(parents=True)
    course = Course.at(course_root)
    name = next(n for n in course.notebooks() if n.startswith("01"))
    shutil.copy(course.source / f"{name}.ipynb", root / "source" / "s19")
    run(root, "nbgrader", "generate_assignment", "s19")
    for student in ("complete", "half-done", "assert-deleter"):
        notebook = nbformat.read(root / "release" / "s19" / f"{name}.ipynb", as_version=4)
        example_class.STUDENTS[student](example_class.exercise_cells(notebook))
        if student == "assert-deleter":
            notebook.cells.insert(0, nbformat.v4.new_code_cell(example_class.TRANSFORMER, id="quiet"))
        folder = root / "submitted" / student / "s19"
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")
    run(root, "nbgrader", "autograde", "s19", "--Execute.timeout=120")
    run(root, "nbgrader", "generate_feedback", "s19")
    with Gradebook(f"sqlite:///{root}/gradebook.db", "foreign") as gradebook:
        marks = {s.student.id: s.score for s in gradebook.assignment_submissions("s19")}
    return root, name, marks


def test_a_foreign_course_gives_the_same_marks_for_honest_work(foreign, ours):
    _, name, marks = foreign
    mine = scores(ours[0])
    course = Course.at(ours[0])
    cells = [c for c in course.source_notebook(name).cells if c.metadata.get("nbgrader", {}).get("grade")]
    ids = {c.metadata.nbgrader.grade_id: checks_in(c.source)[0].exercise_id for c in cells}
    for student in ("complete", "half-done"):
        assert marks[student] == sum(mine[student][gid][0] for gid in ids)


def test_a_foreign_course_says_where_the_verdict_was_reached(foreign):
    root, name, _ = foreign
    page = (root / "feedback" / "complete" / "s19" / f"{name}.html").read_text(encoding="utf-8")
    assert "Verdict reached in this kernel" in page


def test_why_the_judge_sits_outside(foreign, ours):
    """The same submission: stock nbgrader gives it full marks, our judge none."""
    _, _, marks = foreign
    assert marks["assert-deleter"] == marks["complete"]
    assert totals(ours[0])["assert-deleter"] == 0
