"""Restoring: whatever a student did to the notebook, what is graded has the shape of the source."""

import copy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading.restore import MISSING, grade_id, restore

HIDDEN = "\n### BEGIN HIDDEN TESTS\ncheck('{0}', {1}, hidden=True)\n### END HIDDEN TESTS"


def meta(gid, **flags):
    base = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {"grade_id": gid, **base, **flags}}


def course():
    """(source, release) of two exercises, with a setup cell and a lesson cell."""
    source = [
        new_markdown_cell("# lesson"),
        new_code_cell("import torch", metadata=meta("setup", locked=True)),
        new_code_cell("print('lesson')"),
        new_code_cell("def f(x):\n    return x + 1", metadata=meta("f", solution=True)),
        new_code_cell("check('1.1', f)" + HIDDEN.format("1.1", "f"), metadata=meta("check-f", grade=True, locked=True, points=2)),
        new_code_cell("def g(x):\n    return x + 2", metadata=meta("g", solution=True)),
        new_code_cell("check('1.5a', g)" + HIDDEN.format("1.5a", "g"), metadata=meta("check-g", grade=True, locked=True, points=3)),
    ]
    release = copy.deepcopy(source)
    for cell in release:
        if "HIDDEN" in cell.source:
            cell.source = cell.source.split("\n")[0]
        if grade_id(cell) in ("f", "g"):
            cell.source = f"def {grade_id(cell)}(x):\n    raise NotImplementedError()"
    return new_notebook(cells=source), new_notebook(cells=release)


SOURCE, RELEASE = course()


def submission(change):
    made = copy.deepcopy(RELEASE)
    made.cells[3].source = "def f(x):\n    return 'mine'"
    change(made.cells)
    return made


def same_cell_twice(cells):
    cells.insert(0, copy.deepcopy(cells[4]))


def changed_id(cells):
    cells[4].metadata.nbgrader.grade_id = "other"


def lost_metadata(cells):
    for cell in cells:
        cell.metadata = nbformat.NotebookNode()


def to_markdown(cells):
    cells[4] = new_markdown_cell(cells[4].source, metadata=cells[4].metadata)


def flag_off(cells):
    cells[4].metadata.nbgrader.update(grade=False, locked=False, points=100)


def text_changed(cells):
    cells[4].source = "pass"


def deleted(cells):
    del cells[4]


def solution_turned_to_markdown(cells):
    cells[3] = new_markdown_cell(cells[3].source, metadata=cells[3].metadata)


def other_order(cells):
    cells.reverse()


def odd_metadata(cells):
    cells[4].metadata.nbgrader = "text"
    cells[2].metadata = nbformat.NotebookNode(nbgrader=[1], tags=["skip-execution"])


CHANGES = [
    same_cell_twice, changed_id, lost_metadata, to_markdown, flag_off, text_changed, deleted,
    solution_turned_to_markdown, other_order, odd_metadata,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: c.__name__)
def test_the_shape_of_the_source_and_the_students_code(change):
    result = restore(submission(change), SOURCE, RELEASE)
    found = [grade_id(c) for c in result.notebook.cells if grade_id(c)]
    assert sorted(found) == sorted(["setup", "f", "check-f", "g", "check-g"])
    by_id = {grade_id(c): c for c in result.notebook.cells if grade_id(c)}
    for original in SOURCE.cells:
        gid = grade_id(original)
        if gid:
            made = by_id[gid]
            assert made.cell_type == original.cell_type
            assert {**made.metadata.nbgrader, "checksum": 0} == {**original.metadata.nbgrader, "checksum": 0}
            if not original.metadata.nbgrader.solution:
                assert made.source == original.source
    assert "'mine'" in by_id["f"].source
    assert all("tags" not in c.metadata for c in result.notebook.cells)
    nbformat.validate(result.notebook)
    assert change is other_order or result.notes, "what was restored is said"


def test_untouched_is_not_accused():
    assert restore(submission(lambda cells: None), SOURCE, RELEASE).notes == {}


def test_lesson_cells_are_left_out_only_as_they_came():
    same = restore(submission(lambda cells: None), SOURCE, RELEASE)
    assert [same.notebook.cells[n].source for n in same.lessons] == ["print('lesson')"]

    def edit(cells):
        cells[2].source = "helper = 3"

    assert restore(submission(edit), SOURCE, RELEASE).lessons == set()


def test_a_missing_stub_is_not_put_over_an_answer_elsewhere():
    def moved(cells):
        answer = new_code_cell(cells[3].source)
        del cells[3]
        cells.append(answer)

    result = restore(submission(moved), SOURCE, RELEASE)
    assert sum("def f" in c.source for c in result.notebook.cells) == 1

    def gone(cells):
        del cells[3]

    texts = [c.source for c in restore(submission(gone), SOURCE, RELEASE).notebook.cells]
    assert MISSING in texts and not any("def f" in t for t in texts)


def test_empty_notebook():
    result = restore(new_notebook(), SOURCE, RELEASE)
    assert [grade_id(c) for c in result.notebook.cells] == ["setup", "f", "check-f", "g", "check-g"]
