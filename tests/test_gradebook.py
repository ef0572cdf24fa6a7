"""The gradebook by URL: PostgreSQL holds what sqlite holds, and a submission is there as a whole or not at all."""

import csv
import os
import shutil
import signal
import subprocess
from contextlib import closing

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from autograder import database
from autograder.build import BuildError, register
from autograder.grading import record
from autograder.grading.course import Course, CourseError
from autograder.grading.engine import grade_class
from autograder.grading.workers import Crew

from . import example_class, postgres
from .conftest import needs_bubblewrap

ASSIGNMENT = "s19-debugging"
needs_postgres = pytest.mark.skipif(
    postgres.programs() is None, reason="needs Debian's package postgresql: apt-get install postgresql"
)
ONE = Crew(count=1)
LONG = "n" * 200  # a name that nbgrader's tables do not hold
STUDENTS = ("blank", "complete", "half-done", "plausible")


@pytest.fixture(scope="module")
def server():
    with postgres.Server() as made, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSFILE", str(made.pgpass))
        yield made


@pytest.fixture(scope="module")
def pattern(tmp_path_factory):
    """One notebook and a few students, its cells and points noted in sqlite."""
    made = example_class.small_course(tmp_path_factory.mktemp("pattern") / "course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(example_class, "STUDENTS", {s: example_class.STUDENTS[s] for s in STUDENTS})
        example_class.write(made)
    (made.submitted / "half-done" / ASSIGNMENT / "timestamp.txt").write_text("2026-02-01 10:00:00 UTC")
    (made.submitted / "O'Brien Zoë" / ASSIGNMENT).mkdir(parents=True)
    (made.submitted / LONG / ASSIGNMENT).mkdir(parents=True)
    (made.home / "secret").write_text("5a" * 32 + "\n")  # all copies draw the same cases
    (made.home / "secret").chmod(0o600)
    return made.root


def copied(pattern, root, url=""):
    """A copy of the course whose gradebook is where `url` says."""
    shutil.copytree(pattern, root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(database.VARIABLE, url)
        return Course.at(root)


@pytest.fixture(scope="module")
def empty(server, pattern):
    """Name of a database that knows the course and no submission; others are made after it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(database.VARIABLE, server.create("empty"))
        assert register(pattern) == ""
    return "empty"


@pytest.fixture
def fresh(server, empty, pattern, tmp_path, request):
    """A course that is not graded yet, with a PostgreSQL database of its own."""
    return copied(pattern, tmp_path / "course", server.create(request.node.name, like=empty))


def held(course):
    """All that a gradebook holds of a class: scores, comments, times, by student, notebook and cell."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        return {
            s.student.id: (
                s.timestamp,
                {(n.name, g.name): (g.auto_score, g.needs_manual_grade) for n in s.notebooks for g in n.grades},
                {(n.name, c.name): c.auto_comment for n in s.notebooks for c in n.comments},
            )
            for s in gradebook.assignment_submissions(course.assignment)
        }


def outcomes(results):
    return {r.student: ({i: item.outcome for i, item in r.items.items()}, r.score, r.points, r.failed) for r in results}


@pytest.fixture(scope="module")
def sqlite(pattern, tmp_path_factory):
    """(course, results) of the class in sqlite."""
    made = copied(pattern, tmp_path_factory.mktemp("sqlite") / "course")
    return made, list(grade_class(made, crew=ONE))


@pytest.fixture(scope="module")
def postgresql(server, empty, pattern, tmp_path_factory):
    """(course, results) of the same class in PostgreSQL."""
    made = copied(pattern, tmp_path_factory.mktemp("postgresql") / "course", server.create("class", like=empty))
    return made, list(grade_class(made, crew=ONE))


@needs_bubblewrap
@needs_postgres
@pytest.mark.long
class TestPostgreSQL:
    def test_it_holds_what_sqlite_holds(self, sqlite, postgresql):
        assert postgresql[0].db_url.startswith("postgresql") and sqlite[0].db_url.startswith("sqlite")
        assert held(postgresql[0]) == held(sqlite[0])
        assert outcomes(postgresql[1]) == outcomes(sqlite[1])
        scores = {r.student: r.score for r in postgresql[1]}
        assert scores["complete"] > scores["half-done"] > scores["blank"] == 0

    def test_a_name_that_it_can_not_hold_stops_nobody(self, postgresql):
        made, results = postgresql
        failed = {r.student: r.notes for r in results if r.failed}
        assert list(failed) == [LONG] and "no name longer than 128" in failed[LONG][-1]
        assert set(held(made)) == {*STUDENTS, "O'Brien Zoë"}

    def test_a_regrade_is_identical(self, postgresql):
        made, results = postgresql
        before = held(made)
        again = list(grade_class(made, crew=ONE))
        assert not any(r.fresh for r in again if not r.failed) and outcomes(again) == outcomes(results)
        forced = list(grade_class(made, crew=ONE, force=True))
        assert all(r.fresh for r in forced) and outcomes(forced) == outcomes(results)
        assert held(made) == before

    def test_nbgrader_reads_it(self, postgresql):
        made, results = postgresql
        scores = {r.student: r.score for r in results if not r.failed}
        env = {**os.environ, database.VARIABLE: made.db_url}
        for words in (["export", "--to=grades.csv"], ["db", "upgrade"]):
            done = subprocess.run(["nbgrader", *words], cwd=made.root, env=env, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr[-3000:]
        with open(made.root / "grades.csv", newline="", encoding="utf-8") as file:
            assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)} == scores
        seen = NbGraderAPI(CourseDirectory(config=made.config)).get_submissions(made.assignment)  # formgrader's own
        assert {one["student"]: one["score"] for one in seen if one["autograded"]} == scores

    def test_stock_autograde_gives_the_same(self, postgresql):
        made, _ = postgresql
        before = held(made)
        words = ["nbgrader", "autograde", ASSIGNMENT, "--student=half-done", "--force"]
        env = {**os.environ, database.VARIABLE: made.db_url}
        done = subprocess.run(words, cwd=made.root, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        assert held(made) == before

    def test_whatever_stops_it_the_same_command_finishes(self, server, fresh, sqlite):
        wanted = held(sqlite[0])
        env = {**os.environ, database.VARIABLE: fresh.db_url}
        words = ["autograder", "grade", "--workers=1", "--no-feedback"]
        with subprocess.Popen(words, cwd=fresh.root, env=env, stdout=subprocess.PIPE, text=True, bufsize=1) as grading:
            first = next(line for line in grading.stdout if " of " in line).partition(":")[0]
            grading.send_signal(signal.SIGKILL)
        there = held(fresh)
        assert first in there and all(wanted[student] == entry for student, entry in there.items())
        grading = grade_class(fresh, crew=ONE)
        next(grading)
        server.stop()
        try:
            with pytest.raises(CourseError, match="can't be opened") as told:
                list(grading)
        finally:
            server.start()
        assert "\n" not in str(told.value) and server.password not in str(told.value)
        assert outcomes(grade_class(fresh, crew=ONE)) == outcomes(sqlite[1])
        assert held(fresh) == wanted

    def test_a_wrong_password_is_not_told(self, server, postgresql):
        url = server.url("class", "not-the-password")
        env = {**os.environ, database.VARIABLE: url}
        done = subprocess.run(["autograder", "grade"], cwd=postgresql[0].root, env=env, capture_output=True, text=True)
        said = done.stderr.strip()
        assert done.returncode == 2 and "password authentication failed" in said and "can't be opened" in said
        assert "not-the-password" not in said and "\n" not in said

    def test_a_build_says_so_too(self, server, pattern, monkeypatch):
        monkeypatch.setenv(database.VARIABLE, server.url("class", "not-the-password"))
        with pytest.raises(BuildError, match="can't be opened") as told:
            register(pattern)
        assert "not-the-password" not in str(told.value) and "\n" not in str(told.value)


@pytest.fixture
def sqlite_copy(sqlite, tmp_path):
    """A copy of the graded course, to be changed."""
    shutil.copytree(sqlite[0].root, tmp_path / "course")
    return Course.at(tmp_path / "course")


@needs_bubblewrap
@pytest.mark.long
def test_a_submission_is_recorded_whole_or_not_at_all(sqlite_copy, monkeypatch):
    with Gradebook(sqlite_copy.db_url, sqlite_copy.course_id) as gradebook:
        submission = gradebook.find_submission(sqlite_copy.assignment, "complete")
        submission.notebooks[0].grades[0].auto_score = 0.125  # what a recording that is not finished must leave
        gradebook.db.commit()
    before, kept = held(sqlite_copy), sorted(sqlite_copy.autograded.rglob("*"))
    written = []

    def stopped(entry):
        written.append(entry.gradebook.find_submission(sqlite_copy.assignment, "complete").score)
        raise KeyboardInterrupt

    monkeypatch.setattr(record._Entry, "total", stopped)
    with pytest.raises(KeyboardInterrupt):
        list(grade_class(sqlite_copy, "complete", crew=ONE))
    assert written and written[0] > 0.125
    assert held(sqlite_copy) == before and sorted(sqlite_copy.autograded.rglob("*")) == kept


def test_two_gradings_of_a_course_never_record_at_once(pattern, monkeypatch):
    monkeypatch.setenv(database.VARIABLE, "")
    course = Course.at(pattern)
    with closing(record.Recorder(course)), pytest.raises(CourseError, match="another grading is at work"):
        record.Recorder(course)
    record.Recorder(course).close()


@pytest.mark.parametrize(
    "url, told",
    [
        ("postgresql+psycopg://me:hidden-word@127.0.0.1:1/class", "127.0.0.1:1/class can't be opened"),
        ("postgresql+psycopg://me@127.0.0.1:1/class?password=hidden-word", "127.0.0.1:1/class can't be opened"),
        ("postgresql+psycopg://me:a@hidden-word@127.0.0.1:1/class", "write %40"),
        ("postgresql+nodriver://me:hidden-word@127.0.0.1:1/class", "can't be opened"),
        ("mysql+pymysql://me:hidden-word@127.0.0.1:1/class", "needs the package"),
        ("me:hidden-word@127.0.0.1/class", "can't be read"),
    ],
)  # fmt: skip
def test_a_gradebook_that_can_not_be_opened(pattern, monkeypatch, url, told):
    monkeypatch.setenv(database.VARIABLE, url)
    with pytest.raises(CourseError) as refused:
        record.Recorder(Course.at(pattern))
    said = str(refused.value)
    assert told in said and "\n" not in said and "hidden-word" not in said
