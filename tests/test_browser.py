"""A student's way through JupyterLab, in Debian's chromium. Figures: pytest -n 0 -s tests/test_browser.py"""

import json
import time

import nbformat
import pytest

from autograder.build.rerun import unsolved_problems
from autograder.exercises import all_exercises
from autograder.lesson.session import PARTS

from .example_class import answer
from .lab import CHROMIUM, Page, needs_chromium, started

pytestmark = [pytest.mark.long, pytest.mark.browser, needs_chromium]
NAMES = [part.notebook for part in PARTS]
SOLVED = "03_loss_will_not_move"


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with started(tmp_path_factory.mktemp("lab")) as made:
        yield made


@pytest.fixture(scope="module")
def page(lab, chromium):
    """Lab in a window of its own, opened on the first notebook as `make lab` opens it."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    yield Page(lab, context.new_page(), NAMES[0])
    context.close()


def test_opens_on_the_map_of_the_session(lab, page, tmp_path):
    painted = time.monotonic() - lab.begun
    assert page.panel.locator(".jp-MarkdownOutput table").first.locator("a").count() == len(PARTS)
    for _ in range(3):  # the text, the setup, the progress
        page.page.keyboard.press("Shift+Enter")
    said = page.panel.locator(".autograder-progress")
    said.wait_for()
    ran = time.monotonic() - lab.begun
    print(f"\nfirst paint {painted:.1f} s after the server's start, first cells ran {ran:.1f} s after it")
    assert f"0 of {len(all_exercises())}" in said.inner_text() and "Next: exercise 1.1" in said.inner_text()
    page.page.screenshot(path=tmp_path / "map.png")
    assert page.page.get_by_text("official Jupyter news").count() == 0
    said.locator("a", has_text="Next").click()
    page.back_to(NAMES[1])
    page.close()
    page.back_to(NAMES[0])


@pytest.fixture(scope="module")
def running(page):
    """A function that shows a notebook whose Run All has begun, with the one after it under way."""
    begun = []

    def begin(name):
        if name not in begun:
            begun.append(name)
            if name != NAMES[0]:
                page.open(name)
            page.run_all()

    def show(name):
        begin(name)
        for following in NAMES[NAMES.index(name) + 1 :][:1]:
            begin(following)
        page.back_to(name)

    return show


@pytest.mark.parametrize("name", NAMES)
def test_run_all_and_move_every_control(lab, page, running, name, tmp_path):
    """Only stubs fail, each check says "not attempted", and each figure follows its controls by the keyboard."""
    running(name)
    assert unsolved_problems(page.finished(), name) == []
    moves = page.move_controls()
    page.page.screenshot(path=tmp_path / "after.png")
    peak = {where: f"{size:.0f} MB" for where, size in lab.peak_megabytes().items()}
    answers = ", ".join(f"{label} {seconds or 0:.2f} s" for label, seconds in moves)
    print(f"\n{name}: {answers or 'no controls'}; peak {peak}")
    page.close()
    assert [label for label, seconds in moves if seconds is None] == []
    assert bool(moves) == any("explore(" in cell.source for cell in nbformat.read(page.file, as_version=4).cells)


def test_from_stub_to_full_marks_by_keyboard(lab, page, tmp_path):
    """No mouse: run up to the stub, write it, check, take a hint, see the check go stale, and pass."""
    page.open(SOLVED)
    press = page.page.keyboard.press
    page.to_cell("def nonuniform_logits")
    press("Shift+Enter")
    press("Shift+Enter")
    check = page.cell('check("3.2"')
    check.get_by_text("not attempted").first.wait_for()
    assert "Write the stub above" in check.inner_text()

    press("a")
    page.type_cell('hint("3.2")')
    page.panel.get_by_text("Hint 1 of 3").wait_for()
    assert page.panel.get_by_text("Hint 2 of 3").count() == 0

    page.rewrite_cell("def nonuniform_logits", answer("3.2", "wrong_zeros"))
    check.get_by_text("Stale: nonuniform_logits").wait_for()
    press("Shift+Enter")
    check.get_by_text("✗ wrong").first.wait_for()
    check.screenshot(path=tmp_path / "wrong.png")
    assert "Stale" not in check.inner_text() and "mean loss" in check.inner_text()

    page.rewrite_cell("def nonuniform_logits", answer("3.2", "right_bisection"))
    check.get_by_text("Stale: nonuniform_logits").wait_for()
    check.screenshot(path=tmp_path / "stale.png")
    press("Shift+Enter")
    check.get_by_text("Next: exercise").wait_for()
    check.screenshot(path=tmp_path / "passed.png")
    assert "fresh hidden cases" in check.inner_text() and "✗" not in check.inner_text()
    assert json.loads((lab.progress / "progress.json").read_text())["3.2"] == "passed"

    press("b")
    page.type_cell('check("3.2", nonuniform_logits, hidden=True)')
    page.panel.get_by_text("3 of 3 points").wait_for()
    page.saved(lambda nb: "3 of 3 points" in str(nb))


def test_zoomed_to_200_percent(page, tmp_path):
    """Half the room for everything: the check is read without scrolling sideways."""
    page.page.set_viewport_size({"width": 640, "height": 450})
    page.page.keyboard.press("Control+b")  # the list of files makes room
    check = page.cell('check("3.2"')
    check.scroll_into_view_if_needed()
    check.locator("table").wait_for()
    page.page.screenshot(path=tmp_path / "zoom.png")
    overflow = "e => e.scrollWidth - e.clientWidth"
    assert max(part.evaluate(overflow) for part in check.locator(".jp-OutputArea-output").all()) <= 0
    page.page.keyboard.press("Control+b")
    page.page.set_viewport_size({"width": 1280, "height": 900})


def test_download_and_validate(page, tmp_path):
    """What is handed in holds the answer; the button names the exercise that is still a stub, and no other."""
    with page.page.expect_download() as waited:
        page.menu("File", "Download")
    handed_in = nbformat.read(waited.value.path(), as_version=4)
    assert any("start + high * onehot" in cell.source for cell in handed_in.cells)
    page.panel.get_by_role("button", name="Validate").click()
    dialog = page.page.locator(".jp-Dialog", has_text="audit_chain")
    dialog.wait_for()
    page.page.screenshot(path=tmp_path / "validate.png")
    assert "nonuniform_logits" not in dialog.inner_text()
