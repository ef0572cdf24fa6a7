"""Any notebook at all becomes one with the shape of its source, twice the same, and fit for a file."""

import copy
import json

import nbformat
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_notebook

from autograder.grading.outputs import Outputs, visible
from autograder.grading.restore import grade_id, literal, restore

from .test_restore import RELEASE, SOURCE

IDS = [grade_id(c) for c in SOURCE.cells if grade_id(c)]
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
half = st.text(st.characters(codec=None, categories=None), max_size=30)  # lone surrogates too
flags = st.fixed_dictionaries(
    {},
    optional={
        "grade_id": st.sampled_from(IDS) | anything,
        "grade": anything, "solution": anything, "locked": anything, "points": anything, "schema_version": anything,
    },
)  # fmt: skip
sources = half | st.sampled_from([c.source for c in [*SOURCE.cells, *RELEASE.cells]])
cells = st.fixed_dictionaries(
    {
        "cell_type": st.sampled_from(["code", "markdown", "raw"]) | st.text(max_size=4),
        "metadata": st.fixed_dictionaries({}, optional={"nbgrader": flags | anything, "tags": anything}),
        "source": sources,
    },
    optional={"outputs": anything, "attachments": anything, "id": anything, "execution_count": anything},
)


@settings(max_examples=300, deadline=None)
@given(st.lists(cells, max_size=9), st.dictionaries(st.text(max_size=6), anything, max_size=2))
def test_any_notebook_is_restored(found, metadata):
    submitted = new_notebook()
    submitted.cells = [from_dict(c) for c in found]
    submitted.metadata = NotebookNode(metadata)
    before = copy.deepcopy(submitted)
    made = restore(submitted, SOURCE, RELEASE).notebook
    assert submitted == before, "the submission itself is left alone"
    assert sorted(grade_id(c) for c in made.cells if grade_id(c)) == sorted(IDS)
    for cell in made.cells:
        original = next((c for c in SOURCE.cells if grade_id(c) == grade_id(cell)), None) if grade_id(cell) else None
        assert cell.cell_type in ("code", "markdown") and set(cell.metadata) <= {"nbgrader", "autograder"}
        assert original is None or original.metadata.nbgrader.solution or cell.source == original.source
    nbformat.validate(made)
    text = nbformat.writes(made).encode()  # raises for what no file can hold
    again = restore(nbformat.reads(text.decode(), as_version=4), SOURCE, RELEASE).notebook
    assert [c.source for c in again.cells] == [c.source for c in made.cells], "a second restoring changes nothing"


@settings(max_examples=300, deadline=None)
@given(st.text() | st.text(st.sampled_from("~`\n <>x")))
def test_literal_markdown_is_a_block_of_code(text):
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    shown = literal(text)
    assert literal(shown) == shown
    html = markdown2html_mistune("before\n\n" + shown)
    assert html.count("<pre") == 1 and "<script" not in html and "<x" not in html


@settings(max_examples=200, deadline=None)
@given(anything, st.text(), st.text())
def test_any_reply_gives_outputs_that_a_file_can_hold(reply, out, err):
    made = Outputs().of_cell({"displays": reply, "result": reply, "error": reply}, (out, err))
    made += Outputs().of_cell(reply, (out, err))
    nb = new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=made)])
    nbformat.validate(nb)
    json.dumps(nb)


@given(st.text())
def test_visible_text_is_printable(text):
    assert all(c in "\n\t" or ord(c) >= 32 for c in visible(text)) and "\x1b" not in visible(text)
    assert not set(visible(text)) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
