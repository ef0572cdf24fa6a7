"""Bad input: one clear sentence that names it and the way out, exit code 2, nothing half-written."""

import os
import shutil
import subprocess

import pytest

from autograder.grading.course import Course

from . import example_class


@pytest.fixture
def root(course_root, tmp_path):
    made = tmp_path / "course"
    shutil.copytree(course_root, made, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", "secret"))
    return made


def hand_in(root):
    example_class.STUDENTS, kept = {"blank": example_class.STUDENTS["blank"]}, example_class.STUDENTS
    try:
        example_class.write(Course.at(root))
    finally:
        example_class.STUDENTS = kept


def refused(root, *command):
    done = subprocess.run(["autograder", *command], cwd=root, capture_output=True, text=True)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    said = done.stderr.strip()
    assert said.startswith("autograder: ") and "Traceback" not in said and "\n" not in said
    assert not (root / "grading" / "autograded").exists() and not (root / "grading" / "report.json").exists()
    return said


def test_not_a_course(tmp_path):
    assert "is not a course folder" in refused(tmp_path, "grade")
    assert not list(tmp_path.iterdir())


def test_no_such_assignment(root):
    assert "there is no assignment 's20'" in refused(root, "grade", "s20")


def test_not_built(root):
    shutil.rmtree(root / "solutions" / "s19-debugging")
    assert "run: make build" in refused(root, "grade")


def test_not_released(root):
    hand_in(root)
    shutil.rmtree(root / "notebooks")
    assert "is missing; run: make build" in refused(root, "grade")


def test_no_submissions(root):
    assert "grading/submitted does not exist" in refused(root, "grade")
    hand_in(root)
    assert "no submission found at" in refused(root, "grade", "--student", "nobody")


def test_gradebook_missing(root):
    hand_in(root)
    (root / "grading" / "gradebook.db").unlink()
    assert "has no assignment 's19-debugging'; run: make build" in refused(root, "grade")


def test_gradebook_of_another_course(root):
    hand_in(root)
    from nbgrader.api import Gradebook

    course = Course.at(root)
    (root / "grading" / "gradebook.db").unlink()
    with Gradebook(course.db_url, "other") as gradebook:
        gradebook.add_assignment("s19-debugging")
        gradebook.add_notebook("00_other", "s19-debugging")
    assert "is it another course's?" in refused(root, "grade")


def test_gradebook_that_is_no_database(root):
    hand_in(root)
    (root / "grading" / "gradebook.db").write_text("hello")
    assert "can't be opened" in refused(root, "grade")


@pytest.mark.parametrize("content, mode", [("zz", 0o600), ("00" * 32, 0o644)])
def test_secret_unreadable(root, content, mode):
    hand_in(root)
    secret = root / "grading" / "secret"
    secret.write_text(content)
    secret.chmod(mode)
    assert "secret" in refused(root, "grade")
    assert secret.read_text() == content


def test_without_bubblewrap(root, tmp_path):
    hand_in(root)
    empty = tmp_path / "bin"
    empty.mkdir()
    python = shutil.which("autograder")
    done = subprocess.run([python, "grade"], cwd=root, capture_output=True, text=True, env={**os.environ, "PATH": str(empty)})
    assert done.returncode == 2 and "apt-get install bubblewrap" in done.stderr and "--no-sandbox" in done.stderr
    assert not (root / "grading" / "secret").exists() or done.stdout == ""
