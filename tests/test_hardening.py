"""Walls within the walls: what the corpora found, each as a test of its own."""

import base64
import pickle

import pytest

from autograder.grading.outputs import NOTEBOOK_BYTES, Outputs, visible
from autograder.judge import discreet
from autograder.result import CaseResult, Verdict
from autograder.sandbox import Limits, ProcessLost, Sandbox, bubblewrap

from .conftest import needs_bubblewrap

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()


@pytest.fixture(scope="module")
def small():
    with Sandbox(limits=Limits(memory=256 << 20)) as made:
        yield made


HOARD = "import os, time\ndef hoard():\n    for _ in range(6):\n        if os.fork() == 0:\n            x = bytearray(b'x') * (100 << 20)\n            time.sleep(60)\n    time.sleep(60)\n"


@needs_bubblewrap
def test_memory_is_counted_over_all_processes_of_a_submission(small):
    process = small.open()
    with pytest.raises(ProcessLost) as lost:
        process.cell(HOARD + "hoard()", 30)
    assert lost.value.outcome == "out of memory"


@needs_bubblewrap
def test_a_fork_that_takes_its_submission_along_is_out_of_memory_too(small):
    process = small.open()
    process.cell(HOARD, 10)
    fork = process.fork()
    with pytest.raises(ProcessLost) as lost:
        fork.call(30, None, name="hoard", kind="function", probe="", payload=pickle.dumps([]), live={}, seed=0)
    assert lost.value.outcome == "out of memory"
    process.kill()


@needs_bubblewrap
def test_memory_that_forks_share_counts_once(small):
    """The control: forks of a process that holds much, honestly, are no hoard."""
    process = small.open()
    source = "import os, time\nx = bytearray(b'x') * (150 << 20)\nfor _ in range(4):\n    if os.fork() == 0:\n        time.sleep(60)\ntime.sleep(1)\nlen(x)"
    assert process.cell(source, 30)["result"] == {"text/plain": str(150 << 20)}
    process.kill()


@needs_bubblewrap
def test_memory_that_no_process_maps_can_not_be_had(small):
    process = small.open()
    reply = process.cell("import ctypes\nlibc = ctypes.CDLL(None)\nlibc.memfd_create(b'x', 0), libc.shmget(0, 4096, 0o1600)", 10)
    assert reply["result"] == {"text/plain": "(-1, -1)"}
    process.kill()


@needs_bubblewrap
def test_a_signal_to_its_process_group_stays_in_the_submission(small):
    first, second = small.open(), small.open()
    first.cell("import os, signal\nfor _ in range(3): os.kill(0, signal.SIGTERM)\nos.killpg(0, signal.SIGTERM)", 10)
    assert second.cell("1 + 1", 10)["result"] == {"text/plain": "2"}
    assert small.runner.poll() is None
    first.kill(), second.kill()


@needs_bubblewrap
@pytest.mark.parametrize("end", ["while True: time.sleep(1)", "os._exit(3)"])
def test_what_an_item_started_ends_with_it(small, end):
    """An answer that timed out, and one that crashed: the next item has the process limit to itself."""
    process = small.open()
    item = process.fork()
    bomb = f"import os, time\nfor _ in range(40):\n    if os.fork() == 0:\n        time.sleep(99)\n{end}"
    with pytest.raises(ProcessLost):
        item.cell(bomb, 2)
    count = "import os\nlen([p for p in os.listdir('/proc') if p.isdigit()])"
    assert process.cell(count, 10)["result"] == {"text/plain": "1"}
    process.kill()


@needs_bubblewrap
def test_a_process_that_is_gone_or_lies_when_it_should_fork(small):
    for source in (
        "import threading, os\nthreading.Timer(0.2, os._exit, (1,)).start()",
        "import gc\ns = [o for o in gc.get_objects() if type(o).__name__ == 'Server'][0]\ntype(s).do_fork = lambda *a, **k: 'four'",
    ):
        process = small.open()
        process.cell(source, 10)
        process.take_printed()
        import time

        time.sleep(0.5)
        with pytest.raises(ProcessLost) as lost:
            process.fork()
        assert lost.value.outcome == "crashed"


def test_every_room_but_what_a_notebook_needs_is_hidden():
    rooms = {p.name for p in bubblewrap.PACKAGE.iterdir() if p.is_dir()} - {"__pycache__"}
    assert set(bubblewrap.HIDDEN) == rooms - {"sandbox", "lesson"}


def said(text, outcome="crashed", hidden=True):
    case = CaseResult("a case", Verdict(False, text, "", ""), outcome, hidden)
    return discreet(case, {"return 1 / y"}).verdict.observed


TRACE = 'Traceback (most recent call last):\n  File "<ipython-input-1>", line 2, in f\n    return 1 / y\n           ~~^~~\n{0}: 424242.5'


@pytest.mark.parametrize(
    "text, outcome, shown",
    [
        (TRACE.format("ValueError"), "crashed", "ValueError in your line\n    return 1 / y\n"),
        (TRACE.format("E424242"), "crashed", "an error in your line"),
        (TRACE.replace("1 / y", "424242").format("ValueError"), "crashed", "ValueError (a hidden case"),
        ("ValueError\nE424242: 424242", "crashed", "ValueError (a hidden case"),
        ("424242", "out of memory", "the call ran out of memory"),
        ("424242 is not defined", "not attempted", "the stub is as it came"),
        ("no answer within 2.5 s", "timed out", "no answer within 2.5 s"),
        ("the process ended before it answered (with exit code 3)", "crashed", "exit code 3"),
        ("the process ended before it answered 424242", "crashed", "an error"),
    ],
)
def test_a_hidden_case_quotes_nothing_that_was_written_at_call_time(text, outcome, shown):
    assert shown in said(text, outcome) and "424242" not in said(text, outcome)
    assert said(text, outcome, hidden=False) == text, "public cases show everything"


def test_outputs_are_text_and_checked_images():
    made = Outputs().of_cell(
        {
            "displays": [
                {"image/png": PNG, "text/plain": "a plot"},
                {"image/png": '"><script>1</script>'},
                {"image/png": base64.b64encode(b"<svg>").decode()},
                {"text/html": "<b>", "application/javascript": "1"},
                "text",
            ],
            "result": {"text/plain": "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \u202e"},
            "error": {"ename": "E", "evalue": "v", "traceback": ["a\x1b[2J"]},
        },
        ("1%\r2%\rdone\r\nnext\n", ""),
    )
    assert [o.output_type for o in made] == ["stream", "display_data", "execute_result", "error"]
    assert made[0].text == "done\nnext\n" and made[1].data == {"image/png": PNG, "text/plain": "a plot"}
    assert made[2].data["text/plain"] == "red \\x1b]0;owned\\x07 \\u202e" and made[3].traceback == ["a\\x1b[2J"]


def test_a_notebook_has_a_budget_of_bytes():
    outputs = Outputs()
    kept = [outputs.of_cell({}, ("x" * 1_000_000, "")) for _ in range(30)]
    assert sum(len(o.text) for cell in kept for o in cell) < NOTEBOOK_BYTES + 30 * 100
    assert "the rest is left out" in kept[-1][0].text


def test_a_line_of_a_megabyte_is_made_visible_at_once():
    assert visible("x" * 1_000_000 + "\r" * 1_000_000 + "y") == "y"
