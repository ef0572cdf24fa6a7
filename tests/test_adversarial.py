"""Every row of the corpora comes out as it must: no honest work lost, no mark gained, no secret read."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from autograder.grading.restore import literal

from .adversarial import ours
from .adversarial.__main__ import summary
from .conftest import needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.long]
CHROMIUM = Path("/usr/bin/chromium")
ARGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    return ours.grade(tmp_path_factory.mktemp("adversarial"), pages=False)


@pytest.mark.parametrize("student", [row.student for row in ours.ROWS], ids=[row.title for row in ours.ROWS])
def test_the_row_comes_out_as_it_must(graded, student):
    (outcome,) = [o for o in graded.rows if o.row.student == student]
    assert not outcome.wrong and not outcome.read and outcome.result.student == student


def test_the_corpora_are_large_enough_and_nothing_is_gained(graded):
    totals = summary(graded, {})
    assert totals["awkward"] >= 40 and totals["hostile"] >= 40
    assert totals["awkward_right"] == totals["awkward"]
    assert totals["marks_gained"] == totals["secrets_read"] == totals["escapes"] == 0
    assert graded.escapes == []


def test_a_canary_would_be_heard():
    """The control: what looks for canaries finds one in a message and in a kept file."""
    from autograder import wire

    with ours.overheard() as heard:
        wire.decode(wire.encode({"text": ours.small.CANARIES["truth"]}))
    assert heard


def pages(graded):
    found = sorted(graded.course.feedback.rglob("*.html"))
    assert len(found) > 12
    return found


def test_pages_hold_no_script_and_no_address(graded):
    for path in pages(graded):
        page = BeautifulSoup(path.read_text(encoding="utf-8"), features="html.parser")
        assert page.head.find(True)["http-equiv"] == "Content-Security-Policy"
        for element in page.find_all(True):
            assert element.name not in ("script", "iframe", "object", "embed", "link", "base", "form", "svg"), path
            for name, value in element.attrs.items():
                assert not name.startswith("on") and name not in ("srcdoc", "srcset", "action"), (path, element)
                assert name not in ("src", "href") or value.startswith(("data:image/", "#")), (path, element)


def test_notebooks_for_formgrader_hold_nothing_that_works(graded):
    """formgrader renders them in the instructor's browser: only what our judge wrote is HTML."""
    import nbformat

    for path in graded.course.autograded.rglob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            assert cell.cell_type in ("code", "markdown") and not cell.get("attachments") and "tags" not in cell.metadata
            if cell.cell_type == "markdown":
                assert cell.source == literal(cell.source) or cell.source.startswith("# A lesson")
                continue
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", str(cell.outputs) + cell.source)
            for output in cell.outputs:
                assert set(output.get("data", {})) <= {"text/plain", "image/png", "image/jpeg"} or (
                    output.data["text/html"].startswith('<div class="autograder-check">') and cell.metadata.nbgrader.grade
                )


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's package chromium: apt-get install chromium")
def test_a_browser_runs_no_script_and_sends_no_request(graded):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play, play.chromium.launch(executable_path=CHROMIUM, args=ARGS) as browser:
        page = browser.new_page()
        requests, said = [], []
        page.on("request", lambda r: requests.append(r.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        for path in pages(graded):
            requests.clear()
            page.goto(path.as_uri())
            page.wait_for_timeout(50)
            assert page.title() == "01_small" and page.url == path.as_uri()
            assert [r for r in requests if not r.startswith(("file:", "data:"))] == [] and len(requests) >= 1
            assert not [s for s in said if "Content Security Policy" not in s], (path, said)
        page = browser.new_page()
        page.set_content("<title>01_small</title><script>document.title = 'ran'</script>")
        assert page.title() == "ran", "the control: a script that may run is seen"
