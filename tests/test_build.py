"""From a text to notebooks: the same every time, complete, and nothing told that is not meant to be."""

import copy
import shutil

import nbformat
import pytest

from autograder.build import BuildError, Course, build, check_built, delimiters
from autograder.build.compare import differences
from autograder.build.execute import run_problems
from autograder.build.gates import text_problems
from autograder.build.release import release_problems
from autograder.build.rerun import keep_unstable
from autograder.build.text import cell_id, head, read_text

from .courses import FIXTURES, TEXT, cell, fixture_exercise, make_course, read, released, solved

find = fixture_exercise.find


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The fixture course, built once; tests that change it take a copy."""
    root = make_course(tmp_path_factory.mktemp("built") / "course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(FIXTURES))
        build(root, find)
        yield root


def _copied(built, tmp_path):
    return shutil.copytree(built, tmp_path / "course")


def test_a_second_build_changes_no_byte(built):
    before = {path: path.read_bytes() for path in (solved(built), released(built))}
    assert build(built, find) == []
    assert {path: path.read_bytes() for path in before} == before
    assert check_built(built, find) == []


def test_solved_notebook_is_filled_and_executed(built):
    nb = read(solved(built))
    assert [c.id for c in nb.cells[:3]] == ["01-001", "setup-01", "01-003"]
    graded = cell(nb, "check-0-9")
    assert graded.metadata.nbgrader.points == 2 and graded.metadata.nbgrader.grade_id == "check-0-9"
    (result,) = [o for o in graded.outputs if o.output_type == "execute_result"]
    assert result.data["text/plain"] == "2.0"
    assert "{{" not in "".join(c.source for c in nb.cells)
    assert "execution" not in graded.metadata and "version" not in nb.metadata.language_info
    assert any("image/png" in o.get("data", {}) for c in nb.cells for o in c.get("outputs", []))


def test_released_notebook_holds_stubs_and_no_answer(built):
    nb = read(released(built))
    assert "raise NotImplementedError()" in cell(nb, "spread").source
    assert cell(nb, "check-0-9").source == 'check("0.9", spread)'
    assert not any(c.get("outputs") for c in nb.cells)
    assert release_problems(read(solved(built)), nb, "x") == []


def test_head_names_points_minutes_level_and_hint():
    text = head(find("0.9"))
    for part in ("Exercise 0.9: Spread of a tensor", "2 points", "5 minutes", "core", 'hint("0.9")'):
        assert part in text


@pytest.mark.parametrize("grade_id", ["check-1.5a", "a" * 90, "setup_01"])
def test_cell_ids_are_valid(grade_id):
    assert nbformat.v4.new_code_cell(id=cell_id(grade_id)).id == cell_id(grade_id)


def test_stale_notebook_goes_and_strangers_are_refused(built, tmp_path):
    root = _copied(built, tmp_path)
    for path in (solved(root, "02_gone"), released(root, "02_gone")):
        path.write_bytes(solved(root).read_bytes())
    assert len(check_built(root, find)) == 2
    assert sorted(build(root, find)) == sorted([solved(root, "02_gone"), released(root, "02_gone")])
    (solved(root).parent / "answers.txt").write_text("no")
    with pytest.raises(BuildError, match="answers.txt: only built notebooks"):
        build(root, find)


def test_an_unreadable_notebook_is_built_anew(built, tmp_path):
    nb, path = read(solved(built)), tmp_path / "torn.ipynb"
    path.write_text("<<<<<<< ours\n")
    keep_unstable(nb, path)
    assert nb == read(solved(built))


def _edit(change):
    def apply(root):
        for path in (solved(root), released(root)):
            nb = read(path)
            change(nb)
            nbformat.write(nb, path)

    return apply


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_edit(lambda nb: cell(nb, "01-003").update(source="pass")), "cell '01-003': its source differs"),
        (_edit(lambda nb: cell(nb, "check-0-9").metadata.nbgrader.update(points=9)), "its metadata differs"),
        (_edit(lambda nb: nb.cells.pop()), "its cells differ: 01-010"),
        (_edit(lambda nb: nb.metadata.update(author="x")), "its metadata differs"),
        (lambda root: released(root).unlink(), "is missing; run make build"),
    ],
    ids=["source", "metadata", "cells", "notebook", "missing"],
)
def test_what_differs_is_found(built, tmp_path, change, words):
    root = _copied(built, tmp_path)
    change(root)
    assert words in "\n".join(map(str, differences(Course(built), Course(root))))


STUB = '"grade_id": "spread", "grade": false, "solution": true, "locked": false, "task": false, "schema_version": 3'
GRADED = '"grade_id": "check-0.9", "grade": true, "solution": false, "locked": true, "task": false, "schema_version": 3'
GATES = [
    ("### BEGIN SOLUTION", "### BEGIN SOLUTOIN", "looks like a delimiter"),
    ("### BEGIN SOLUTION", "### begin solution", "looks like a delimiter"),
    ("### BEGIN SOLUTION", "#BEGIN SOLUTION", "looks like a delimiter"),
    ("    ### END SOLUTION\n", "", "never ends"),
    ("    ### BEGIN SOLUTION\n", "", "closes a solution block that is not open"),
    ("### END SOLUTION", "### BEGIN SOLUTION", "opens inside the solution block"),
    ("### BEGIN HIDDEN TESTS", "### BEGIN HIDEN TESTS", "looks like a delimiter"),
    ("### END HIDDEN TESTS", "### END HIDDEN TEST", "looks like a delimiter"),
    ("### END HIDDEN TESTS", "### END SOLUTION", "closes a solution block that is not open"),
    (f" nbgrader={{{GRADED}}}", "", "calls check, but has no nbgrader metadata"),
    (GRADED, GRADED.replace('"grade_id": "check-0.9", ', ""), "metadata without 'grade_id'"),
    (GRADED, GRADED.replace("check-0.9", ""), "and not empty"),
    (GRADED, GRADED.replace("check-0.9", "spread"), "has the id of"),
    (GRADED, GRADED.replace("check-0.9", "01-003"), "has the id of"),
    (GRADED, GRADED.replace(', "schema_version": 3', ""), "metadata without 'schema_version'"),
    (GRADED, GRADED.replace(": 3", ": 2"), "schema_version must be 3"),
    (GRADED, GRADED + ', "points": 4', "points are kept by the exercise"),
    (GRADED, GRADED.replace('"task": false', '"task": true'), "a cell is graded, or a solution, or neither"),
    (GRADED, GRADED.replace("true", "true,", 1).replace("{", ""), "header can't be read"),
    (" nbgrader={" + STUB, " nbgarder={" + STUB, "unknown word 'nbgarder' in its header; did you mean 'nbgrader'?"),
    ("{{exercise 0.9}}\n", "", "has no placeholder"),
    ("# {{exercise 0.9}}", "# Here: {{exercise 0.9}}", "alone on its line"),
    ("# {{exercise 0.9}}", "# {{exercise 0.9}}\n# {{exercise 0.9}}", "has a placeholder but no check"),
    ("exercise 0.9", "exercise 7.77", "there is no exercise '7.77'"),
    ('check("0.9", spread)', 'check("7.77", spread)', "its two checks differ"),
    ('check("0.9", spread)', 'check("0.9", spread)\nprint("bye")', "two calls of check and nothing else"),
    ('check("0.9", spread)', 'check("0.9", lambda values: 1.0)', "two calls of check and nothing else"),
    ('check("0.9", spread)', '# the answer is 42\ncheck("0.9", spread)', "comments do not belong"),
    (", hidden=True", "", "the second the hidden one"),
    ("def spread", "def spraed", "no solution cell between the placeholder and this check defines 'spread'"),
    ('tags=["setup"]', 'tags=["set-up"]', '0 cells are tagged "setup"'),
    ("assert values.min() == 1", "assert values.min( == 1", "does not parse"),
    ("values = torch", "### AUTOTEST values\nvalues = torch", "means something to nbgrader"),
]  # fmt: skip


def test_the_fixture_passes_every_gate(tmp_path):
    assert _gates(tmp_path, TEXT) == []


@pytest.mark.parametrize(("old", "new", "words"), GATES, ids=[words[:30] for *_, words in GATES])
def test_gates_name_file_and_cell(tmp_path, old, new, words):
    assert old in TEXT
    found = _gates(tmp_path, TEXT.replace(old, new))
    assert any(words in p.text for p in found), found
    assert all(p.file == "01_fixture.py" for p in found)
    assert all(p.cell or "tagged" in p.text for p in found)


def _gates(tmp_path, text):
    path = tmp_path / "01_fixture.py"
    path.write_text(text, encoding="utf-8")
    return text_problems(read_text(path), path.name, find)


def test_gates_name_the_line_of_the_text(tmp_path):
    (found,) = _gates(tmp_path, TEXT.replace("### END HIDDEN TESTS", "### END HIDDEN TESTS\n# so"))
    line = TEXT.splitlines().index(next(x for x in TEXT.splitlines() if "check-0.9" in x)) + 1
    assert found.cell == f"cell 'check-0.9' (line {line})"


@pytest.mark.parametrize(
    "line",
    ["### BEGIN SOLUTIONS", "## BEGIN SOLUTION", "###BEGIN SOLUTION", "### BEGIN  SOLUTION", "### Begin Solution",
     "### BEGIN_SOLUTION", "# begin hidden tests", "### END HIDDENTESTS", "### START SOLUTION", "### HIDDEN TESTS",
     "x = 1  ### BEGIN SOLUTION", "### EDN SOLUTION", "### BEGIN SLUTION", "print('BEGIN SOLUTION')"],
)  # fmt: skip
def test_lookalikes_are_refused(line):
    assert delimiters.lookalike(line)


@pytest.mark.parametrize(
    "line",
    ["# the solution converges", "x = 1  # end of the loop", "# begin with a small batch", "solution = solve(a)",
     "### A heading", "# hidden layer of 16 units", "# test", "in the end, solutions differ", ""],
)  # fmt: skip
def test_other_lines_are_let_through(line):
    assert not delimiters.lookalike(line)


def test_a_heading_is_no_delimiter():
    assert not delimiters.lookalike("### Hidden units", code=False)


LEAKS = [
    ("spread", lambda s: s.replace("raise NotImplementedError()", "return (high - low).item()"), "line of a solution"),
    ("spread", lambda s: s.replace("# YOUR CODE HERE", "return(high-low) .item()"), "line of a solution"),
    ("spread", lambda s: "def spread(values):\n    return 0.0", "stub without"),
    ("01-001", lambda s: s + "\n    low, high = values.min(), values.max()", "line of a solution"),
    ("check-0-9", lambda s: s + '\ncheck("0.9", spread, hidden=True)', "line of a hidden tests block"),
    ("01-003", lambda s: s + "\n### BEGIN SOLUTION", "shows a delimiter"),
]


@pytest.mark.parametrize(("name", "change", "words"), LEAKS, ids=[words for *_, words in LEAKS])
def test_leaks_in_a_student_notebook_are_found(built, name, change, words):
    nb = read(released(built))
    cell(nb, name).source = change(cell(nb, name).source)
    found = release_problems(read(solved(built)), nb, "n.ipynb")
    assert any(words in p.text and name in p.cell + name for p in found), found


def test_outputs_of_solved_cells_are_a_leak(built):
    nb = read(released(built))
    cell(nb, "check-0-9").outputs = cell(read(solved(built)), "check-0-9").outputs
    assert any("stored outputs" in p.text for p in release_problems(read(solved(built)), nb, "n"))


def test_a_lesson_that_shows_a_whole_solution_is_refused(built):
    nb = copy.deepcopy(read(solved(built)))
    body = "a = values.sort().values\nlow, high = a[0], a[-1]\nreturn (high - low).item()"
    stub = cell(nb, "spread")
    stub.source = "def spread(values):\n    ### BEGIN SOLUTION\n" + body + "\n    ### END SOLUTION"
    cell(nb, "01-003").source = "def mine(values):\n" + body
    assert any("whole solution of 'spread'" in p.text for p in release_problems(nb, read(released(built)), "n"))


OUTPUTS = [
    ({"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}, "fails with ValueError: no"),
    ({"output_type": "stream", "name": "stderr", "text": "warning"}, "writes to stderr"),
    ({"output_type": "stream", "name": "stdout", "text": "<f at 0x7f1122334455>"}, "differs from run to run"),
]


@pytest.mark.parametrize(("output", "words"), OUTPUTS, ids=[words for _, words in OUTPUTS])
def test_outputs_that_must_not_be_stored(built, output, words):
    nb = read(solved(built))
    assert run_problems(nb, "", "n") == []
    cell(nb, "01-003").outputs = [nbformat.from_dict(output)]
    assert any(words in p.text for p in run_problems(nb, "", "n"))


def test_a_build_that_fails_changes_nothing(built, tmp_path):
    root = _copied(built, tmp_path)
    text = TEXT.replace("assert values.min() == 1", "assert values.min() == 2").replace("(high - low)", "(high + low)")
    (root / "solutions" / "01_fixture.py").write_text(text, encoding="utf-8")
    before = solved(root).read_bytes()
    with pytest.raises(BuildError, match="01_fixture.py, cell 3: fails with AssertionError"):
        build(root, find)
    assert solved(root).read_bytes() == before


def test_texts_are_named_by_number(tmp_path):
    root = make_course(tmp_path / "course")
    (root / "solutions" / "Extra.py").write_text("", encoding="utf-8")
    with pytest.raises(BuildError, match="Extra.py: a text is named NN_name.py"):
        build(root, find)
    assert Course(root).texts()
