"""An instructor with a class: report, feedback for the session, exports, changes by hand, zips, late submissions."""

import csv
import io
import json
import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote

import nbformat
import numpy as np
import pandas
import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from nbgrader.utils import notebook_hash
from playwright.sync_api import sync_playwright

from autograder import ASSIGNMENT, cli
from autograder.grading import analysis, report
from autograder.grading.course import Course
from autograder.grading.export import FORMULA, NBGRADER, canvas_csv, grades_json, nbgrader_csv, safe
from autograder.grading.results import decisions, entries_of_others
from autograder.grading.standing import read_class
from autograder.handin import drafts, pack
from autograder.result import CaseResult, ItemResult, Verdict

from . import example_class
from .bench.classes import our_course
from .conftest import needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.long]

NOTEBOOKS = ["07_failure_scenarios", "09_retention"]
ODD = '=1+1, "Zoë" \u202eünïcode'
STUDENTS = {
    "complete": example_class.complete,
    "half-done": example_class.half_done,
    "plausible": example_class.plausible,
    "late": lambda cells: put(cells, "7.1a", example_class.answer("7.1a")),
    ODD: lambda cells: put(cells, "7.2", "def label_log_prob(logits, labels):\n    return logits\n"),
}
CHROMIUM = Path("/usr/bin/chromium")
LATE = '\nc.LateSubmissionPlugin.penalty_method = "zero"\n'


def put(cells, exercise_id, source):
    if exercise_id in cells:
        cells[exercise_id].source = source


def hand_in(course, student, fill):
    folder = course.submitted / student / ASSIGNMENT
    folder.mkdir(parents=True, exist_ok=True)
    for name in course.notebooks():
        notebook = course.release_notebook(name)
        fill(example_class.exercise_cells(notebook))
        nbformat.write(notebook, folder / f"{name}.ipynb")
    return folder


def run(course, *words):
    done = subprocess.run(
        ["autograder", *words], cwd=course.root, env={**os.environ, "COLUMNS": "200"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def opened(course):
    return Gradebook(course.db_url, course.course_id)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A class of five and one who handed in nothing, graded by `autograder grade`."""
    made = our_course(tmp_path_factory.mktemp("people") / "course", NOTEBOOKS)
    config = made.root / "nbgrader_config.py"
    config.write_text(config.read_text() + LATE)
    made = Course.at(made.root)
    for student, fill in STUDENTS.items():
        hand_in(made, student, fill)
    late = made.submitted / "late" / ASSIGNMENT
    (late / "timestamp.txt").write_text("2025-03-02 00:00:00 UTC")
    (late / "submission_secret.txt").write_text("s3cret")
    with opened(made) as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=datetime(2025, 3, 1))
        gradebook.add_student("absent", first_name="@SUM(1)", last_name="Ünal\u202e", lms_user_id="17")
    run(made, "grade")
    return made


@pytest.fixture
def group(course):
    return read_class(course)


@pytest.fixture
def page(course):
    """The report, parsed."""
    return BeautifulSoup((course.home / "report.html").read_text(encoding="utf-8"), "html.parser")


def index(course, student):
    path = course.feedback / student / ASSIGNMENT / "index.html"
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


# --- one set of scores ---


def test_scores_are_those_of_the_gradebook(course, group):
    with opened(course) as gradebook:
        for submission in gradebook.assignment_submissions(ASSIGNMENT):
            mine = group.standings[submission.student.id]
            assert (mine.score, mine.points) == (submission.score, submission.max_score)
            assert mine.penalty == submission.late_submission_penalty
            theirs = {grade.name: grade.score for n in submission.notebooks for grade in n.grades}
            assert {m.place.cell: m.score for m in mine.marks.values()} == theirs
    assert {s.student for s in group.handed_in} == set(STUDENTS)
    assert group.standings["complete"].score == group.points and not group.standings["absent"].handed_in


def test_report_and_formgrader_show_the_same_scores(course, page):
    """formgrader's own list of submissions reads `submission_dicts`."""
    with opened(course) as gradebook:
        theirs = {s["student"]: s["score"] for s in gradebook.submission_dicts(ASSIGNMENT)}
    rows = page.find("h2", string="Everybody").find_next("table").tbody.find_all("tr")
    mine = {row.th.get_text(strip=True): [c.get_text(strip=True) for c in row.find_all("td")] for row in rows}
    assert mine.pop("absent")[1] == "nothing handed in"
    shown = {name.replace("\\u202e", "\u202e"): float(cells[1]) for name, cells in mine.items()}
    assert shown == pytest.approx(theirs, abs=0.005)


# --- the report ---


def test_the_report_holds_all_it_shows_and_runs_nothing(page, course):
    text = (course.home / "report.html").read_text(encoding="utf-8")
    assert page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"].startswith("default-src 'none'")
    assert not page.find_all(["script", "link", "iframe", "object"]) and "\u202e" not in text
    images = page.find_all("img")
    assert len(images) == 4 and all(i["src"].startswith("data:image/svg+xml") and len(i["alt"]) > 40 for i in images)
    assert all(figure.figcaption.get_text(strip=True) for figure in page.find_all("figure"))
    assert page.html["lang"] == "en" and len(page.find_all("h1")) == 1
    for link in page.find_all("a"):
        assert (course.home / unquote(link["href"])).is_file()


def test_who_needs_a_look_and_why(group, page):
    said = {standing.student: " ".join(why) for standing, why in analysis.needs_a_look(group)}
    assert "nothing was handed in" in said["absent"] and "24.0 hours late" in said["late"]
    assert "exercises not attempted" in said[ODD] and "complete" not in said
    text = page.find("h2", string="Who needs a look, and why").find_next("table").get_text()
    assert "24.0 hours late" in text and "nothing was handed in" in text


def test_numbers_of_the_exercises(group):
    items = {item.exercise: item for item in analysis.item_numbers(group)}
    marks = {i: [s.marks[i].score / s.marks[i].place.points for s in group.handed_in] for i in items}
    for exercise, item in items.items():
        assert item.share == pytest.approx(np.mean(marks[exercise]))
        assert sum(item.outcomes.values()) == len(group.handed_in)
    rest = [s.score - s.marks["7.1a"].score for s in group.handed_in]
    assert items["7.1a"].discrimination == pytest.approx(np.corrcoef(marks["7.1a"], rest)[0, 1])
    assert items["7.2"].outcomes["right"] == 3 and items["7.2"].outcomes["wrong"] == 1


def test_correlation_is_point_biserial_and_silent_where_it_says_nothing():
    passed, rest = np.array([1, 1, 0, 0, 1.0]), np.array([9, 7, 3, 4, 8.0])
    p, spread = passed.mean(), rest.std()
    by_hand = (rest[passed == 1].mean() - rest[passed == 0].mean()) / spread * np.sqrt(p * (1 - p))
    assert analysis.correlation(passed, rest) == pytest.approx(by_hand)
    assert analysis.correlation(np.ones(5), rest) is None and analysis.correlation(passed, np.ones(5)) is None
    assert analysis.correlation(passed[:2], rest[:2]) is None


def test_confusion_counts_every_hidden_run_and_finds_the_mistake_of_the_plausible(group):
    (matrix,) = analysis.confusions(group)
    assert matrix.exercise == "9.2" and len(matrix.true) == 6 and matrix.true[-1] == "healthy"
    hidden = sum(case.hidden for case in group.standings["complete"].marks["9.2"].item.cases)
    deciders = [s for s in group.handed_in if s.entry.decisions]
    assert {s.student for s in deciders} == {"complete", "half-done", "plausible"}
    assert sum(map(sum, matrix.counts)) == hidden * len(deciders)
    wrong = [c for c in group.standings["plausible"].marks["9.2"].item.cases if c.hidden and not c.verdict.parts["diagnosis"]]
    assert sum(number for _, _, number, _ in matrix.mistakes) == len(wrong) > 0


def test_decisions_count_what_was_not_said_too():
    def case(true, said, hidden=True):
        return CaseResult("a run", Verdict(true == said, "", "", group=true, said=said), hidden=hidden)

    def item(*cases):
        return ItemResult("9.2", "t", 1, list(cases), 0.0, "wrong")

    cases = [case("healthy", "zero_grad"), case("healthy", ""), case("nan input", "nan input"), case("healthy", "healthy", False)]
    counted = {"healthy": {"no diagnosis": 1, "zero_grad": 1}, "nan input": {"nan input": 1}}
    assert decisions(item(*cases)) == counted
    assert decisions(item(case("healthy", ""), case("nan input", ""))) == {} == decisions(item())


def test_true_classes_are_in_nothing_that_students_get(course):
    kept = json.loads((course.home / "report.json").read_text())
    verdicts = [c["verdict"] for s in kept["students"] for i in s["items"].values() for c in i["cases"]]
    assert verdicts and not any("group" in verdict for verdict in verdicts)
    cases = read_class(course).standings["plausible"].marks["9.2"].item.cases
    text = index(course, "plausible").get_text()
    assert not any(f"shows {word}" in text for word in analysis.confusions(read_class(course))[0].true)
    assert all(case.verdict.group == "" for case in cases)


def test_report_again_without_grading(course, page):
    before = (course.home / "report.json").stat().st_mtime_ns
    (course.home / "report.html").unlink()
    assert cli.main(["--course", str(course.root), "report"]) == 0
    again = BeautifulSoup((course.home / "report.html").read_text(encoding="utf-8"), "html.parser")
    assert again.table == page.table and [i["src"] for i in again.find_all("img")] == [i["src"] for i in page.find_all("img")]
    assert (course.home / "report.json").stat().st_mtime_ns == before


# --- feedback for the session ---


def test_the_session_page_has_every_exercise_with_outcome_and_reason(course, group):
    html = index(course, "plausible")
    rows = {row.th.get_text(strip=True).split()[0]: row for row in html.select("table.items tr") if row.td}
    assert set(rows) == set(group.places)
    for exercise, row in rows.items():
        mark = group.standings["plausible"].marks[exercise]
        assert mark.outcome in row.get_text() and f"of {mark.place.points:g}" in row.get_text()
    wrong = rows["9.2"].get_text()
    assert "partly right" in wrong and "the diagnosis" in wrong and "Look:" in wrong
    assert "9.2" in html.find("h2", string="What to try next").find_next("article").h3.get_text()
    assert "✓" in rows["7.2"].get_text()  # a sign and a word: no color is needed
    assert "Nothing is open" in index(course, "complete").get_text()


def test_links_of_the_session_page_lead_to_the_items(course):
    html = index(course, "half-done")
    links = [a["href"] for a in html.find_all("a")]
    assert len(links) > len(NOTEBOOKS)
    for link in links:
        name, _, anchor = unquote(link).partition("#")
        target = (course.feedback / "half-done" / ASSIGNMENT / name).read_text(encoding="utf-8")
        assert not anchor or f'name="{anchor}"' in target


def test_the_session_page_is_inert_whatever_a_student_wrote(course):
    text = (course.feedback / ODD / ASSIGNMENT / "index.html").read_text(encoding="utf-8")
    html = index(course, ODD)
    assert html.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"].startswith("default-src 'none'")
    assert not html.find_all(["script", "link", "iframe", "img"]) and "\u202e" not in text and "\\u202e" in text
    assert "@media print" in text


def test_late_work_is_told_with_its_penalty(course, group):
    assert group.standings["late"].score == group.standings["late"].penalty == 2
    text = index(course, "late").get_text(" ")
    assert "0 of" in text and "2 off for being late" in text and "2025-03-02 00:00 UTC" in text


def test_nbgrader_releases_the_session_page_too(course, tmp_path):
    words = ["nbgrader", "release_feedback", ASSIGNMENT, "--student=late", f"--Exchange.root={tmp_path}"]
    done = subprocess.run(words, cwd=course.root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    released = tmp_path / course.course_id / "feedback"
    for name in ("index", *NOTEBOOKS):
        copy = released / f"{notebook_hash(secret='s3cret', notebook_id=name)}.html"
        assert copy.read_bytes() == (course.feedback / "late" / ASSIGNMENT / f"{name}.html").read_bytes()


# --- exports ---


def strict(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_nbgrader_s_columns_and_numbers(course, group, tmp_path):
    assert cli.main(["--course", str(course.root), "export", "--to", str(tmp_path / "ours.csv")]) == 0
    text = (tmp_path / "ours.csv").read_bytes().decode("utf-8")
    with opened(course) as gradebook:
        from nbgrader.plugins.export import CsvExportPlugin

        CsvExportPlugin(to=str(tmp_path / "theirs.csv")).export(gradebook)
    head = (tmp_path / "theirs.csv").read_text().splitlines()[0]
    rows = strict(text)
    assert ",".join(rows[0]) == head == ",".join(NBGRADER)
    theirs = {line.split(",")[3]: line.split(",") for line in (tmp_path / "theirs.csv").read_text().splitlines()[1:]}
    for row in rows[1:]:
        mine = dict(zip(NBGRADER, row))
        if mine["student_id"] in theirs and ODD[:4] not in mine["student_id"]:
            assert [float(v) for v in row[-4:]] == pytest.approx([float(v) for v in theirs[mine["student_id"]][-4:]])
            assert row[:3] == theirs[mine["student_id"]][:3]
    assert len(rows) == 1 + len(STUDENTS) + 1


@pytest.mark.parametrize("write", [nbgrader_csv, canvas_csv])
def test_tables_come_back_whole_from_a_strict_reader_and_from_pandas(group, write):
    text = write(group)
    rows = strict(text)
    assert {len(row) for row in rows} == {len(rows[0])} and all(line.endswith("\r\n") for line in text.splitlines(True))
    frame = pandas.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False)
    assert [list(frame.columns), *frame.values.tolist()] == rows
    text_cells = [cell for row in rows for cell in row if not cell.replace(".", "").isdigit()]
    assert not any(cell.lstrip().startswith(FORMULA) for cell in text_cells)
    assert any(cell == "'" + ODD.replace("\u202e", "\\u202e") for row in rows for cell in row)
    assert "\u202e" not in text and "Ünal" in text


def test_canvas_can_import_it(group):
    rows = strict(canvas_csv(group))
    assert rows[0] == ["Student", "ID", "SIS Login ID", "Section", ASSIGNMENT]
    assert rows[1][0].strip() == "Points Possible" and float(rows[1][-1]) == group.points
    by_login = {row[2]: row for row in rows[2:]}
    assert float(by_login["complete"][-1]) == group.points and float(by_login["late"][-1]) == 0
    assert by_login["absent"][:2] == ["Ünal\\u202e, @SUM(1)", "17"] and by_login["absent"][-1] == ""


def test_json_has_every_exercise(group):
    students = {s["student"]: s for s in json.loads(grades_json(group))["students"]}
    assert set(students) == {*STUDENTS, "absent"}
    assert students["late"]["raw_score"] == 2 and students["late"]["score"] == 0
    assert students["complete"]["exercises"]["9.2"] == {
        "score": 11, "points": 11, "outcome": "right", "set_by_hand": False, "extra_credit": 0.0
    }  # fmt: skip


@given(st.text())
def test_no_text_begins_a_formula_or_hides_anything(text):
    shown = safe(text)
    assert not shown.lstrip().startswith(FORMULA) and shown.isprintable()
    assert strict(f'"{shown.replace(chr(34), chr(34) * 2)}"\r\n') == [[shown]]


@pytest.mark.parametrize("text", ["=1", " =1", "\t=1", "\r1", "+1", "-1", "@a", "＝1", "＋1", "－1", "＠a"])
def test_formulas_are_disarmed(text):
    assert safe(text).startswith("'")
    assert safe("a=1") == "a=1" and safe("Zoë O'Brien") == "Zoë O'Brien"


@pytest.mark.parametrize("place", ["nowhere/x.csv", "."])
def test_an_export_that_cannot_be_made_there(course, place, tmp_path, capsys):
    assert cli.main(["--course", str(course.root), "export", "--to", str(tmp_path / place)]) == 2
    assert "name a file in a folder that exists" in capsys.readouterr().err


# --- what people do after grading ---

BY_HAND = "check-7-3a"
COMMENT = "Nearly <b>there</b>."


def grade_of(gradebook, student, cell):
    notebook = gradebook.find_submission_notebook(NOTEBOOKS[0], ASSIGNMENT, student)
    return next(grade for grade in notebook.grades if grade.name == cell)


@pytest.fixture(scope="module")
def again(course):
    """(before, after, what was printed): changes by hand, a zip, another time; all in one grading.

    Last of the module: those before look at the class as it was graded first.
    """
    before = read_class(course)
    with opened(course) as gradebook:
        for student in ("half-done", "complete"):
            grade = grade_of(gradebook, student, BY_HAND)
            grade.manual_score, grade.extra_credit = 1.5, 0.25
            solution = before.places["7.3a"].solution
            gradebook.find_comment(solution, NOTEBOOKS[0], ASSIGNMENT, student).manual_comment = COMMENT
        gradebook.db.commit()
    changed = course.submitted / "half-done" / ASSIGNMENT / f"{NOTEBOOKS[0]}.ipynb"
    notebook = nbformat.read(changed, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("'another thought'", id="more"))
    nbformat.write(notebook, changed)
    (course.submitted / "late" / ASSIGNMENT / "timestamp.txt").write_text("2025-02-28 00:00:00 UTC")
    folder = course.submitted / "plausible" / ASSIGNMENT
    pack(drafts(folder), "plausible", folder)
    for path in folder.glob("*.ipynb"):
        path.unlink()
    shutil.rmtree(course.autograded / "plausible")
    printed = run(course, "grade", "--workers", "1")
    return before, read_class(course), printed


@pytest.mark.parametrize("student, automatic", [("half-done", 0), ("complete", 2)])
def test_changes_made_in_formgrader_survive_a_regrade(course, again, student, automatic):
    """As nbgrader promises, whether the submission is graded anew (half-done) or stands as it was (complete)."""
    before, after, printed = again
    score = before.standings[student].score - automatic + 1.75
    with opened(course) as gradebook:
        grade = grade_of(gradebook, student, BY_HAND)
        assert (grade.manual_score, grade.extra_credit, grade.auto_score) == (1.5, 0.25, automatic)
        assert gradebook.find_submission(ASSIGNMENT, student).score == score
        comment = gradebook.find_comment(before.places["7.3a"].solution, NOTEBOOKS[0], ASSIGNMENT, student)
        assert comment.comment == comment.manual_comment == COMMENT and comment.auto_comment.startswith("7.3a")
        if student == "half-done":
            assert grade.needs_manual_grade and gradebook.find_submission(ASSIGNMENT, student).needs_manual_grade
    assert after.standings[student].score == score and f"{student}: {score:g} of" in printed


def test_an_item_under_a_score_set_by_hand_needs_a_look(again):
    assert any("set by hand" in why for why in analysis.reasons(again[1].standings["half-done"]))


def test_feedback_again_shows_what_was_changed_by_hand(course, again):
    assert cli.main(["--course", str(course.root), "feedback", "--student", "complete"]) == 0
    text = index(course, "complete").get_text(" ")
    for words in (COMMENT, "set by hand", "extra credit in it", f"{again[1].standings['complete'].score:g} of"):
        assert words in text
    assert "Nearly" in (course.feedback / "complete" / ASSIGNMENT / f"{NOTEBOOKS[0]}.html").read_text()


def test_a_zip_is_graded_as_the_folder_that_it_holds(course, again):
    before, after = (group.standings["plausible"] for group in again[:2])
    assert after.timestamp is not None and not after.result.notes
    assert {i: (m.score, m.item) for i, m in after.marks.items()} == {i: (m.score, m.item) for i, m in before.marks.items()}
    folder = course.submitted / "plausible" / ASSIGNMENT
    assert [p.name for p in folder.iterdir()] == [f"{ASSIGNMENT}-plausible.zip"]
    assert len(list((course.autograded / "plausible" / ASSIGNMENT).glob("*.ipynb"))) == len(NOTEBOOKS)


def test_a_penalty_goes_when_it_is_no_longer_deserved(again):
    standing = again[1].standings["late"]
    assert (standing.penalty, standing.final, standing.late) == (0, 2, 0)


def test_grading_one_student_leaves_the_others_in_the_report(course, again):
    everybody = {entry["student"] for entry in entries_of_others(course, set())}
    assert everybody == set(STUDENTS)
    assert {entry["student"] for entry in entries_of_others(course, {"late"})} == everybody - {"late"}
    report.write_json([again[1].standings["late"].result], course.home / "one.json", False, entries_of_others(course, {"late"}))
    written = json.loads((course.home / "one.json").read_text())
    assert written["sandbox"] is False and len(written["students"]) == len(STUDENTS)


def test_an_unknown_student_gets_the_nearest_name(course, again, capsys):
    assert cli.main(["--course", str(course.root), "feedback", "--student", "compleet"]) == 2
    assert "no submission of 'compleet' is in the gradebook; did you mean 'complete'?" in capsys.readouterr().err


# --- in a browser ---


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's package chromium: apt-get install chromium")
def test_pages_are_readable_by_everybody(course, again):
    """No finding of axe on the report, the session's page, and a notebook's; nothing is asked of the network."""
    student = course.feedback / "half-done" / ASSIGNMENT
    pages = [course.home / "report.html", student / "index.html", *(student / f"{name}.html" for name in NOTEBOOKS)]
    with sync_playwright() as play, play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"]) as browser:
        for path in pages:
            asked = []
            view = browser.new_context(bypass_csp=True).new_page()  # axe itself is a script
            view.on("request", lambda request, asked=asked: asked.append(request.url))
            view.goto(path.as_uri())
            found = Axe().run(view).response["violations"]
            assert [(v["id"], v["impact"], v["nodes"][0]["html"]) for v in found] == [], path.name
            assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
