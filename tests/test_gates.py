"""Gates on the committed notebooks, and fixtures that must fail, which prove that the gates bite."""

import nbformat
import pytest

from autograder.build import ASSIGNMENT, BuildError, build, check_built
from autograder.build.release import release_problems
from autograder.build.rerun import unsolved_problems

from .courses import (
    FIXTURES,
    ROOT,
    TEXT,
    cell,
    fixture_exercise,
    make_course,
    nbval,
    read,
    released,
    rerun,
    solved,
)
from .lab import CHROMIUM

NAMES = sorted(path.stem for path in (ROOT / "solutions" / ASSIGNMENT).glob("*.ipynb"))


def test_there_are_notebooks():
    assert NAMES


def test_notebooks_are_what_their_texts_give():
    assert check_built(ROOT) == []


@pytest.mark.parametrize("name", NAMES)
class TestSolved:
    """solutions/: outputs as stored, none of them missing."""

    def test_outputs_are_as_stored(self, name):
        done = nbval(solved(ROOT, name))
        assert done.returncode == 0, done.stdout[-6000:]


@pytest.mark.parametrize("name", NAMES)
class TestReleased:
    """notebooks/: Run All by a student who has written nothing yet."""

    @pytest.mark.skipif(bool(CHROMIUM), reason="test_browser runs all of them in Lab and asserts the same")
    def test_only_stubs_and_their_checks_fail(self, name):
        assert unsolved_problems(rerun(read(released(ROOT, name))), name) == []

    def test_shows_no_answer(self, name):
        assert release_problems(read(solved(ROOT, name)), read(released(ROOT, name)), name) == []


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The fixture course, built once. Tests change copies of its notebooks."""
    root = make_course(tmp_path_factory.mktemp("built") / "course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(FIXTURES))
        build(root, fixture_exercise.find)
        yield root


class TestMustFail:
    """Each of these is wrong in one way, and a gate says so."""

    def test_the_fixture_itself_passes(self, built):
        assert nbval(solved(built)).returncode == 0
        assert unsolved_problems(rerun(read(released(built))), "n") == []

    def test_tampered_output(self, built, tmp_path):
        nb = read(solved(built))
        (output,) = cell(nb, "01-003").outputs
        output.text = output.text.replace("1.0", "9.0")
        nbformat.write(nb, tmp_path / "tampered.ipynb")
        done = nbval(tmp_path / "tampered.ipynb")
        assert done.returncode == 1 and "smallest 9.0" in done.stdout

    def test_tampered_points(self, built, tmp_path):
        nb = read(solved(built))
        result = next(o for o in cell(nb, "check-0-9").outputs if o.output_type == "execute_result")
        result.data["text/plain"] = "1.0"
        nbformat.write(nb, tmp_path / "points.ipynb")
        assert nbval(tmp_path / "points.ipynb").returncode == 1

    def test_stripped_outputs(self, built, tmp_path):
        nb = read(solved(built))
        for one in nb.cells:
            if one.cell_type == "code":
                one.outputs = []
        nbformat.write(nb, tmp_path / "stripped.ipynb")
        done = nbval(tmp_path / "stripped.ipynb")
        assert done.returncode == 1 and "5 failed" in done.stdout, done.stdout[-3000:]
        assert "cell '01-006' puts something out when run" in done.stdout, "a picture, which stock nbval passes"

    def test_leaked_solution(self, built):
        nb = read(released(built))
        cell(nb, "spread").source = cell(read(solved(built)), "spread").source
        words = " ".join(problem.text for problem in release_problems(read(solved(built)), nb, "n"))
        assert "line of a solution block" in words and "shows a delimiter" in words and "stub without" in words

    def test_stub_that_passes(self, built):
        nb = read(released(built))
        stub = cell(nb, "spread")
        stub.source = stub.source.replace(
            "raise NotImplementedError()", "return float(values.max() - values.min())"
        )
        (problem,) = unsolved_problems(rerun(nb), "n")
        assert problem.cell == "cell 'check-0-9'" and "shows 2.0" in problem.text

    def test_lesson_that_needs_an_answer(self, built):
        nb = read(released(built))
        cell(nb, "01-010").source = "print(spread(values))"
        (problem,) = unsolved_problems(rerun(nb), "n")
        assert problem.cell == "cell '01-010'" and "NotImplementedError" in problem.text

    def test_solution_that_fails(self, tmp_path, monkeypatch):
        words = "cell 'check-0-9': the reference solution earns 0.0 of 2.0 points"
        _refused(tmp_path, monkeypatch, TEXT.replace("high - low", "high + low + 9"), words)

    def test_misspelt_delimiter(self, tmp_path, monkeypatch):
        text = TEXT.replace("### BEGIN SOLUTION", "### BEGIN SOLUTOIN").replace("    ### END SOLUTION\n", "")
        _refused(tmp_path, monkeypatch, text, "looks like a delimiter")

    def test_graded_cell_without_id(self, tmp_path, monkeypatch):
        text = TEXT.replace('"grade_id": "check-0.9", ', "")
        _refused(tmp_path, monkeypatch, text, "nbgrader metadata without 'grade_id'")


def _refused(tmp_path, monkeypatch, text, words):
    """The build of a text stops with these words and leaves nothing behind."""
    root = make_course(tmp_path / "course", text)
    monkeypatch.setenv("PYTHONPATH", str(FIXTURES))
    with pytest.raises(BuildError) as caught:
        build(root, fixture_exercise.find)
    assert words in str(caught.value) and "01_fixture.py, cell" in str(caught.value)
    assert not solved(root).exists() and not released(root).exists()
