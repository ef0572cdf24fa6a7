"""The claims: each is shown by cells or exercises, holds as it stands, and fails when it is broken."""

import json
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from autograder.build import ASSIGNMENT, BuildError, Course, claims
from autograder.build.execute import kernel_environment

from .break_claims import code_cells, kept_breaks
from .courses import ROOT, fixture_exercise

CLAIMS = claims.read(ROOT)
TEXTS = {path.stem.partition("_")[0]: path for path in Course(ROOT).texts()}
BREAKS = {number: kept_breaks(path) for number, path in TEXTS.items()}
LONG = ("08", "08-gpu")


class TestContract:
    def test_is_whole(self):
        numbers = [tuple(map(int, claim.id.split("."))) for claim in CLAIMS]
        assert len(numbers) == 73 and numbers == sorted(set(numbers))
        assert all(claim.id.split(".")[0] == str(int(claim.notebook[:2])) for claim in CLAIMS)
        assert all(bool(claim.control) == (claim.kind != "prose") for claim in CLAIMS)

    def test_every_claim_is_shown(self):
        assert claims.problems(ROOT) == []

    def test_page_is_current(self):
        assert claims.stale(ROOT) == []

    def test_page_names_every_claim_once_and_links_to_cells(self):
        text = claims.page(ROOT)
        named = re.findall(r"^\*\*([\d.]+)\*\*", text, re.MULTILINE)
        assert sorted(named) == sorted(claim.id for claim in CLAIMS)
        assert not re.search(r"0x[0-9a-f]{6,}|/tmp/", text)
        for file, cell in re.findall(r"\]\((\S+)#cell-id=(\S+)\)", text):
            assert f'"id": "{cell}"' in (ROOT / file).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def breaker(tmp_path_factory):
    """Runs a notebook's text with its breaks; see tests/break_claims.py."""
    # forks and a CUDA device do not go together
    env = {**kernel_environment(), "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.break_claims"], env=env, cwd=tmp_path_factory.mktemp("run"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip

    def ask(path, folder=None):
        print(path, folder or "", file=process.stdin, flush=True)
        return json.loads(process.stdout.readline())

    yield ask
    process.stdin.close()
    process.wait(30)


@pytest.mark.parametrize("number", [pytest.param(n, marks=pytest.mark.long if n in LONG else ()) for n in TEXTS])
def test_claims_hold_and_fail_when_broken(number, breaker):
    result = breaker(TEXTS[number])
    assert result["failed"] == ""
    assert [entry for entry in result["breaks"] if entry[2]] == []
    assert len(result["breaks"]) == sum(map(len, BREAKS[number].values()))


def test_every_claim_with_cells_is_broken():
    shown = {(number, one) for number, path in TEXTS.items() for cell in code_cells(path) for one in cell.claims}
    assert {(number, one) for number, kept in BREAKS.items() for one in kept} == shown


@pytest.mark.parametrize("claim, reason", [(c, r) for path in TEXTS.values() for c, r in kept_breaks(path, "LEFT_OUT").items()])
def test_what_needs_a_device(claim, reason):
    pytest.skip(f"claim {claim}: {reason}")


HEAD = '# %% tags=["setup"]\nx = 1\n\n# %% [markdown]\n# ## 0.2 Words\n\n'
SHOWN = '# %% tags=["claim-0.1"]\ny = x + 1\nassert y == 2\n'
CONTRACT = [
    {"id": "0.1", "notebook": "00", "kind": "control", "claim": "One and one is two.", "control": "Asserted."},
    {"id": "0.2", "notebook": "00", "kind": "prose", "claim": "Words."},
]


def make(tmp_path, text=HEAD + SHOWN, contract=CONTRACT):
    """A course of two claims."""
    (tmp_path / "solutions" / ASSIGNMENT).mkdir(parents=True)
    (tmp_path / "solutions" / "00_small.py").write_text(text, encoding="utf-8")
    (tmp_path / claims.CONTRACT).write_text(yaml.safe_dump(contract), encoding="utf-8")
    return tmp_path


class TestMustFail:
    """Each of these is wrong in one way, and is named."""

    def test_the_small_course_passes(self, tmp_path):
        assert claims.problems(make(tmp_path), []) == []

    @pytest.mark.parametrize(
        "text, words",
        [
            (HEAD, "claim 0.1: no cell is tagged claim-0.1"),
            (HEAD + SHOWN.replace("0.1", "0.7"), "is tagged claim-0.7, but there is no such claim"),
            (HEAD + SHOWN.replace("assert y == 2", "print(y)"), "claim 0.1: no cell asserts it"),
            (HEAD.replace("0.2", "0.3") + SHOWN, "claim 0.2 is prose, and no heading bears its number"),
        ],
        ids=["no cell", "misspelt tag", "no assert", "no heading"],
    )
    def test_text(self, tmp_path, text, words):
        assert words in "\n".join(map(str, claims.problems(make(tmp_path, text), [])))

    def test_tag_of_another_notebook(self, tmp_path):
        root = make(tmp_path)
        (root / "solutions" / "01_other.py").write_text(HEAD + SHOWN, encoding="utf-8")
        (problem,) = claims.problems(root, [])
        assert problem.file == "solutions/01_other.py" and "belongs to notebook 00" in problem.text

    def test_exercise_claim_that_no_exercise_serves(self, tmp_path):
        (problem,) = claims.problems(make(tmp_path, contract=[{**CONTRACT[0], "kind": "exercise"}, CONTRACT[1]]), [])
        assert "no exercise that is checked here names it" in problem.text

    def test_exercise_that_serves_no_claim(self, tmp_path):
        exercise = fixture_exercise.find("0.9")
        problems = claims.problems(make(tmp_path), [exercise])
        assert [p.text for p in problems] == [f"exercise 0.9 names claim {one}, which there is not" for one in exercise.claims]

    @pytest.mark.parametrize("change", [{"kind": "controll"}, {"id": "0.2"}, {"remark": "?"}])
    def test_contract(self, tmp_path, change):
        with pytest.raises(BuildError):
            claims.read(make(tmp_path, contract=[{**CONTRACT[0], **change}, CONTRACT[1]]))

    def test_stale_page(self, tmp_path):
        shutil.copytree(ROOT / "solutions" / ASSIGNMENT, tmp_path / "solutions" / ASSIGNMENT)
        shutil.copy(ROOT / claims.CONTRACT, tmp_path / "solutions")
        assert claims.stale(tmp_path)
        assert claims.write(tmp_path) == [tmp_path / claims.PAGE] and not claims.stale(tmp_path)
        assert claims.write(tmp_path) == []
        page = tmp_path / claims.PAGE
        page.write_text(page.read_text(encoding="utf-8").replace("True", "False", 1), encoding="utf-8")
        assert claims.stale(tmp_path)

    @pytest.mark.parametrize(
        "shown, swaps, words",
        [
            (SHOWN, '[("x + 1", "x + 2")]', ""),
            (SHOWN, '[("x + 1", "1 + x")]', "nothing fails"),
            (SHOWN.replace("y == 2", "y > 0 or True"), '[("x + 1", "x - 9")]', "nothing fails"),
            (SHOWN, '[("x + 1", "z + 1")]', "fails with another error: cell 00-003, line 1: NameError"),
            (SHOWN, '[("x + 1", "x / 0"), ZeroDivisionError]', ""),
            (SHOWN, '[("x + 2", "x + 1")]', "its cells hold 'x + 2' 0 times, not once"),
            (SHOWN, '[("y", "x")]', "its cells hold 'y' 2 times, not once"),
            (SHOWN, '[("== 2", "== 3")]', "lies in an assert; break the experiment instead"),
        ],
        ids=["good", "no break", "decoration", "NameError", "foreseen", "no place", "two places", "assert"],
    )
    def test_breaks(self, tmp_path, breaker, shown, swaps, words):
        make(tmp_path, HEAD + shown)
        (tmp_path / "00.py").write_text(f'BROKEN = {{"0.1": {{"a break": {swaps}}}}}', encoding="utf-8")
        result = breaker(tmp_path / "solutions" / "00_small.py", tmp_path)
        ((claim, what, outcome),) = result["breaks"]
        assert result["failed"] == "" and (claim, what) == ("0.1", "a break")
        assert words in outcome and bool(words) == bool(outcome)

    def test_claim_that_does_not_hold(self, tmp_path, breaker):
        make(tmp_path, HEAD + SHOWN.replace("x + 1", "x + 2"))
        assert breaker(tmp_path / "solutions" / "00_small.py", tmp_path)["failed"].startswith("cell 00-003: AssertionError")
