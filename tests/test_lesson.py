"""What a student has beside the marks: map, progress, stale checks, solutions, controls; in kernels without a browser."""

import json
import re
import shutil
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import autograder
from autograder.build import ASSIGNMENT, Course
from autograder.build.execute import kernel_environment
from autograder.build.text import caption, read_text
from autograder.exercises import all_exercises, find
from autograder.item import run_item
from autograder.kernel import LocalAnswer
from autograder.lesson import published, told
from autograder.lesson.kept import FILE, PLACE, Kept
from autograder.lesson.session import PARTS, Map, following, home, table
from autograder.lesson.stale import made_of

from .courses import ROOT
from .example_class import answer

WRONG = "def fate(a, eta):\n    return 'converge'"
CHECK = 'check("2.15", fate)'


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Progress in a folder of the test's own."""
    monkeypatch.setenv(PLACE, str(tmp_path / "kept"))
    Kept.here.cache_clear()
    yield Kept.here()
    Kept.here.cache_clear()


def notebook(folder, *sources, **environment):
    """Run cells in a kernel in a folder. Returns the outputs of each cell as one text."""
    nb = new_notebook(cells=[new_code_cell(source) for source in sources])
    client = NotebookClient(nb, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute(env={**kernel_environment(), **environment})
    return ["\n".join(map(str, cell.outputs)) for cell in nb.cells]


class TestMap:
    def test_every_exercise_has_its_notebook(self):
        of_parts = [one for part in PARTS for one in part.exercises()]
        assert sorted(one.id for one in of_parts) == sorted(all_exercises())
        for path in Course(ROOT).texts():
            text = path.read_text(encoding="utf-8")
            for exercise_id in re.findall(r"\{\{exercise ([^{}\s]+)\}\}", text):
                assert home(find(exercise_id)).notebook == path.stem

    def test_every_notebook_is_on_it_under_its_own_title(self):
        assert sorted(part.notebook for part in PARTS) == [path.stem for path in Course(ROOT).texts()]
        for part in PARTS:
            first = read_text(ROOT / "solutions" / f"{part.notebook}.py").cells[0]
            assert first.source.startswith(f"# {part.number} · {part.title}\n")

    def test_points_and_minutes_are_those_of_the_exercises(self):
        row = next(line for line in table().splitlines() if "(02_nan_and_inf.ipynb)" in line)
        numbers = [[float(n) for n in cell.split("+")] for cell in row.replace("\N{NO-BREAK SPACE}", "").split("|")[3:6]]
        own = [one for one in all_exercises().values() if one.id.startswith("2.")]
        assert sum(numbers[0]) == len(own)
        assert sum(numbers[1]) == sum(one.minutes for one in own)
        assert numbers[2][0] == sum(one.points for one in own if one.level == "core")

    def test_what_is_next(self, kept):
        core = [one.id for one in all_exercises().values() if one.level == "core"]
        assert following(set()).id == "1.1"
        assert following(set(core) - {"3.3"}).id == "3.3"
        assert following(set(core)).level == "stretch"
        assert following(set(all_exercises())) is None
        assert following({"9.2"}, find("9.2")).id != "9.2"

    def test_shows_marks_and_the_next_exercise(self, kept):
        kept.keep("1.1", "passed")
        kept.keep("2.1", "begun")
        shown = repr(Map(kept)), Map(kept)._repr_html_()
        for text in shown:
            assert f"1 of {len(all_exercises())} exercises pass" in text
            assert "✓ 1.1" in text and "◐ 2.1" in text and "○ 2.3" in text
        assert '<a href="02_nan_and_inf.ipynb">Next: exercise 2.1' in shown[1]
        for one in all_exercises():
            kept.keep(one, "passed")
        assert "All is done" in repr(Map(kept))


class TestProgress:
    def test_kept_and_removed(self, kept, capsys):
        kept.keep("2.15", "begun")
        kept.keep("2.15", "passed")
        kept.keep("2.15", "begun")  # what passed once stays passed
        assert json.loads((kept.folder / FILE).read_text()) == {"2.15": "passed"}
        autograder.progress.forget()
        assert "is removed" in capsys.readouterr().out
        assert list(kept.folder.iterdir()) == [] and kept.states() == {}

    def test_off_keeps_nothing_on_disk(self, tmp_path, monkeypatch):
        monkeypatch.setenv(PLACE, "off")
        monkeypatch.chdir(tmp_path)
        Kept.here.cache_clear()
        Kept.here().keep("2.15", "passed")
        assert Kept.here().states() == {"2.15": "passed"} and list(tmp_path.iterdir()) == []
        Kept.here.cache_clear()

    @pytest.mark.parametrize("content", ["", "[1]", "{", '{"2.15": 7}', "\x00"])
    def test_a_spoiled_file_counts_as_none(self, kept, content):
        kept.folder.mkdir()
        (kept.folder / FILE).write_text(content)
        assert kept.states() == {}
        kept.keep("2.1", "passed")
        assert kept.states() == {"2.1": "passed"} and kept.note == ""

    def test_a_folder_that_can_not_be_written(self, tmp_path):
        (tmp_path / "file").write_text("in the way")
        kept = Kept(tmp_path / "file" / "folder")
        kept.keep("2.15", "passed")
        assert kept.states() == {"2.15": "passed"}
        assert "can't be kept" in kept.note and PLACE in kept.note and kept.note in repr(Map(kept))

    @pytest.mark.parametrize("name", ["AUTOGRADER_SANDBOX", "NBGRADER_EXECUTION"])
    def test_nothing_while_grading(self, kept, monkeypatch, name):
        monkeypatch.setenv(name, "1")
        assert autograder.progress() is None and autograder.solution("2.15") is None
        assert autograder.explore(print, value=(0, 1, 1)) is None
        assert not kept.folder.exists()


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """One kernel: a stub, a wrong and a right answer, an edit after the pass, and its undoing."""
    folder = tmp_path_factory.mktemp("kernel")
    begin = "from autograder import check, explore, hint, progress, solution"
    helper = "def factor(a, eta):\n    return 1 - eta * a"
    right = answer("2.15")
    cells = [
        begin, "def fate(a, eta):\n    raise NotImplementedError()", CHECK, "progress()",
        WRONG, CHECK, "progress()", 'solution("2.15")',
        right, CHECK, "progress()", 'solution("2.15")',
        helper, "def fate(a, eta):\n    return 'stay' if factor(a, eta) == 1 else 'converge'", CHECK, "import math",
        helper.replace("1 -", "2 -"), "check('3.2', fate)",
        "import sys\nsys.modules['ipywidgets'] = None\nexplore(fate, a=(0, 1, 1))",
        right, CHECK, WRONG, right + "\n# the same again",
    ]  # fmt: skip
    return notebook(folder, *cells, **{PLACE: str(folder / "kept")}), folder


class TestInAKernel:
    def test_headline_first_then_the_table_then_points(self, outputs):
        said = outputs[0][20]
        assert said.index("of 4 cases pass") < said.index("<table") and "Where to look" in said
        assert said.count("of 4 cases pass") == 1 and "'execute_result'" in said

    def test_a_stub_is_not_begun(self, outputs):
        assert "not attempted" in outputs[0][2] and "○ 2.15" in outputs[0][3]

    def test_progress_from_begun_to_passed(self, outputs):
        assert "◐ 2.15" in outputs[0][6] and "✓ 2.15" in outputs[0][10]
        assert json.loads((outputs[1] / "kept" / FILE).read_text())["2.15"] == "passed"

    def test_solution_comes_after_the_pass(self, outputs):
        assert "offered once every visible case" in outputs[0][7]
        assert "No solutions came with these notebooks" in outputs[0][11]

    def test_an_edit_makes_the_check_stale(self, outputs):
        assert "Stale: fate" in outputs[0][5] and "Stale: fate" in outputs[0][9]

    def test_an_edit_of_a_helper_does_too(self, outputs):
        assert "Stale: fate" in outputs[0][14]

    def test_the_same_code_again_is_not_stale(self, outputs):
        assert "Stale" not in outputs[0][20] and "Next: exercise" in outputs[0][20]

    def test_another_exercise_name_notes_nothing(self, outputs):
        assert "3.2" not in json.loads((outputs[1] / "kept" / FILE).read_text())

    def test_without_ipywidgets_one_sentence(self, outputs):
        assert "pip install ipywidgets" in outputs[0][18] and "Traceback" not in outputs[0][18]


class TestWhatComesNext:
    """The line under the headline."""

    def line(self, style):
        def stub(a, eta):
            raise NotImplementedError()

        space = {"fate": stub}
        if style:
            exec(answer("2.15", style), space)
        return told._then(find("2.15"), run_item(find("2.15"), LocalAnswer(space["fate"]), None))

    def test_by_outcome(self, kept):
        assert self.line("").startswith("Write the stub above")
        assert 'hint("2.15")' in self.line("wrong_")
        assert self.line("right_").startswith("Next: exercise 3.3") and "in 03 The loss" in self.line("right_")

    def test_offers_the_solution_where_there_is_one(self, kept, monkeypatch):
        monkeypatch.chdir(ROOT / "notebooks" / ASSIGNMENT)
        kept.keep("2.15", "passed")
        assert self.line("right_").startswith('solution("2.15") shows ours.')

    def test_when_all_is_done(self, kept):
        for one in all_exercises():
            kept.keep(one, "passed")
        assert "the last one" in self.line("right_")


class TestWhatAnAnswerIsMadeOf:
    def made(self, *codes):
        space = {"__name__": "__main__"}
        for number, code in enumerate(codes):
            exec(compile(code, f"cell {number}", "exec"), space)
        return made_of(space["f"], space)

    @pytest.mark.parametrize(
        "codes",
        [
            ("def f(x):\n    return x + 2",),
            ("def f(x, y=1):\n    return x + 1",),
            ("def f(x):\n    return x - 1",),
            ("def f(x):\n    return abs(x + 1)",),
            ("class f:\n    def g(self):\n        return 1",),
            ("f = 3",),
        ],
    )
    def test_differs(self, codes):
        assert self.made(*codes) != self.made("def f(x):\n    return x + 1")

    def test_layout_and_place_do_not_matter(self):
        assert self.made("\n\ndef f(x):  # a note\n    return (x +\n        1)") == self.made("def f(x):\n    return x + 1")

    @pytest.mark.parametrize("change", ["    def g(self):\n        return h() + 1", "    def k(self):\n        return h()"])
    def test_methods_and_what_they_call(self, change):
        first = ("def h():\n    return 1", "class f:\n    def g(self):\n        return h()")
        assert self.made(*first) == self.made(*first)
        assert self.made(*first) != self.made(first[0], f"class f:\n{change}")
        assert self.made(*first) != self.made("def h():\n    return 2", first[1])

    def test_under_a_decorator(self):
        one = "import torch\n@torch.no_grad()\ndef f(x):\n    return x"
        assert self.made(one) == self.made(one) != self.made(one + " + 1")


class TestSolutions:
    def offered(self, where, kept, exercise_id="2.15", passed=False):
        if where:
            shutil.copytree(ROOT / "solutions" / ASSIGNMENT, where)
        if passed:
            kept.keep(exercise_id, "passed")
        return repr(published.offer(find(exercise_id)))

    def test_handed_out_by_the_instructor(self, kept, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        said = self.offered(tmp_path / "solutions", kept)
        assert "def fate(" in said and "SOLUTION" not in said and "check(" not in said

    @pytest.mark.parametrize("passed", [False, True])
    def test_in_a_clone_after_a_pass_alone(self, kept, tmp_path, monkeypatch, passed):
        here = tmp_path / "notebooks" / ASSIGNMENT
        here.mkdir(parents=True)
        monkeypatch.chdir(here)
        said = self.offered(tmp_path / "solutions" / ASSIGNMENT, kept, passed=passed)
        assert ("def fate(" in said) is passed and (passed or 'hint("2.15")' in said)

    @pytest.mark.parametrize("content", ["", "{}", '{"cells": [7]}', '{"cells": []}'])
    def test_a_spoiled_notebook(self, kept, tmp_path, monkeypatch, content):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "solutions").mkdir()
        (tmp_path / "solutions" / "02_nan_and_inf.ipynb").write_text(content)
        said = repr(published.offer(find("2.15")))
        assert "02_nan_and_inf.ipynb" in said and "\n" not in said

    @pytest.mark.parametrize("exercise_id", all_exercises())
    def test_each_is_that_of_its_exercise(self, kept, monkeypatch, exercise_id):
        monkeypatch.chdir(ROOT / "notebooks" / ASSIGNMENT)
        kept.keep(exercise_id, "passed")
        said = repr(published.offer(find(exercise_id)))
        name = find(exercise_id).answer
        assert re.search(rf"^(def|class) {name}\b|^{name}\b.*=", said, re.MULTILINE)


class TestFigures:
    """Each has a caption under it, which is its alternative text too."""

    @pytest.mark.parametrize("path", sorted((ROOT / "solutions" / ASSIGNMENT).glob("*.ipynb")), ids=lambda p: p.stem)
    def test_caption_and_alternative_text(self, path):
        cells = nbformat.read(path, as_version=4).cells
        figures = 0
        for cell, below in zip(cells, cells[1:]):
            if any("image/png" in output.get("data", {}) for output in cell.get("outputs", [])):
                figures += 1
                assert len(cell.metadata.alt) > 40 and cell.metadata.alt == caption(below)
        assert figures

    def test_nbconvert_shows_it(self):
        from nbconvert import HTMLExporter

        # the template that nbgrader's pages extend; the lab one leaves alternative text out
        page, _ = HTMLExporter(template_name="classic").from_filename(str(ROOT / "solutions" / ASSIGNMENT / "00_what_debugging_tests.ipynb"))
        assert "No description" not in page and 'alt="Training loss of the four runs' in page

    @pytest.mark.parametrize("text, said", [
        ("*One line.*", "One line."), ("*Two\nlines.*\n\nMore.", "Two lines."), ("**Bold.** No.", ""),
        ("*Begins* only.", ""), ("Text.", ""), ("- *item*", ""),
    ])  # fmt: skip
    def test_what_a_caption_is(self, text, said):
        assert caption(SimpleNamespace(cell_type="markdown", source=text)) == said


def test_environment_of_builds_keeps_no_progress():
    assert kernel_environment()[PLACE] == "off"
