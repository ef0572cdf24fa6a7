"""The sandbox: what student code can't do, and what it costs when it tries."""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import autograder
from autograder import sandbox as package
from autograder.sandbox import Limits, ProcessLost, Sandbox, SandboxUnavailable, bubblewrap

from .conftest import needs_bubblewrap

ROOT = Path(autograder.__file__).parents[1]


@pytest.fixture
def process(sandbox):
    made = sandbox.open()
    yield made
    made.kill()


def value_of(process, expression):
    """A value of the student's process, as plain data."""
    process.cell(f"def _probe(): return {expression}", 10)
    reply = process.call(
        10, None, name="_probe", kind="function", probe="", payload=pickle.dumps([]), live={}, seed=0
    )
    return reply.get("value", reply)


def error_of(process, source, seconds=10):
    error = process.cell(source, seconds)["error"]
    return error and error["ename"]


def test_a_cell_returns_prints_displays_result_and_error(process):
    reply = process.cell("import os\nprint('out'); os.write(2, b'err')\nfrom IPython.display import display\ndisplay('d')\n3", 10)
    assert reply["error"] is None and reply["result"] == {"text/plain": "3"}
    assert reply["displays"] == [{"text/plain": "'d'"}]
    assert process.take_printed() == ("out\n", "err")
    assert error_of(process, "1/0") == "ZeroDivisionError"


def test_a_figure_is_a_png_and_nothing_that_a_browser_executes(process):
    reply = process.cell("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()", 20)
    assert set(reply["displays"][0]) <= {"text/plain", "image/png"} and "image/png" in reply["displays"][0]
    reply = process.cell("from IPython.display import HTML\nHTML('<script>1</script>')", 10)
    assert set(reply["result"]) == {"text/plain"}


def test_input_gets_an_empty_line(process):
    assert value_of(process, "input('name? ')") == ""


def test_no_course_no_gradebook_no_home(process):
    seen = value_of(process, "[p for p in __import__('os').listdir('/')]")
    assert set(seen) <= {"usr", "bin", "sbin", "lib", "lib32", "lib64", "etc", "proc", "dev", "tmp", ROOT.parts[1], "root", "opt", "home"}
    visible = set(value_of(process, f"__import__('os').listdir({str(ROOT)!r})"))
    assert visible <= {"autograder", ".venv"}, "the course must not be visible"
    for room in bubblewrap.HIDDEN:
        if (ROOT / "autograder" / room).is_dir():
            assert value_of(process, f"__import__('os').listdir({str(ROOT / 'autograder' / room)!r})") == []
    assert value_of(process, "sorted(__import__('os').environ)") == sorted(
        {*bubblewrap.environment(), "PWD", *value_of(process, "[k for k in __import__('os').environ if k.startswith('TORCH')]")}
    )


def test_the_judge_cannot_be_imported(process):
    for room in ("exercises", "judge", "runs", "grading"):
        assert error_of(process, f"from autograder.{room} import find") in ("ImportError", "ModuleNotFoundError")


# where this checkout lies below /tmp, a submission sees the way to Python in its own /tmp, and no more
IN_TMP = sorted({Path(p).parts[2] for p in bubblewrap.needed_paths() if p.startswith("/tmp/")})
WRITABLE = [] if str(ROOT).startswith("/tmp/") else [str(ROOT / "x")]


@pytest.mark.parametrize("path", [*WRITABLE, str(ROOT / "autograder" / "x"), "/usr/x", "/x", "/dev/x", "/etc/x"])
def test_read_only_but_for_its_own_tmp(process, path):
    assert error_of(process, f"open({path!r}, 'w')") in ("OSError", "PermissionError", "FileNotFoundError")
    assert error_of(process, "open('/tmp/mine', 'w').write('x')") is None


def test_nothing_in_tmp_reaches_the_next(sandbox):
    for _ in range(2):
        process = sandbox.open()
        assert value_of(process, "__import__('os').listdir('/tmp') + __import__('os').listdir('/dev/shm')") == IN_TMP
        process.cell("open('/tmp/left', 'w').write('x'); open('/dev/shm/left', 'w').write('x')", 10)
        process.kill()


def test_no_network(process):
    assert error_of(process, "import socket\nsocket.create_connection(('127.0.0.1', 22), 2)") in ("ConnectionRefusedError", "OSError")
    assert error_of(process, "import socket\nsocket.create_connection(('192.0.2.1', 80), 2)") == "OSError"
    assert value_of(process, "[n for _, n in __import__('socket').if_nameindex()]") == ["lo"]


def test_its_own_processes_and_no_others(process):
    assert value_of(process, "__import__('os').getpid()") == 1
    assert value_of(process, "[p for p in __import__('os').listdir('/proc') if p.isdigit()]") == ["1"]
    assert value_of(process, "__import__('os').getuid()") != 0
    assert error_of(process, "import os, signal\nos.kill(os.getppid() or 2, signal.SIGKILL)") is not None


def test_no_namespaces_and_no_capabilities(process):
    assert value_of(process, "[l.split()[1] for l in open('/proc/self/status') if l.startswith('CapEff')]") == ["0" * 16]
    assert value_of(process, "__import__('ctypes').CDLL(None).unshare(0x10000000)") == -1
    assert value_of(process, "__import__('ctypes').CDLL(None).umount2(b'/tmp', 2)") == -1


@pytest.mark.parametrize(
    "source, outcome, said",
    [
        ("import os\nos._exit(3)", "crashed", "exit code 3"),
        ("import ctypes\nctypes.string_at(0)", "crashed", "signal 11"),
        ("while True: pass", "timed out", "1 s"),
        ("import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\ntime.sleep(99)", "timed out", "1 s"),
        ("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", "timed out", "1 s"),
    ],
    ids=["exit", "segfault", "loop", "signals-blocked", "fork-bomb"],
)
def test_a_lost_process_is_an_outcome_and_the_next_one_works(sandbox, source, outcome, said):
    process = sandbox.open()
    with pytest.raises(ProcessLost) as lost:
        process.cell(source, 1)
    assert lost.value.outcome == outcome and said in lost.value.text
    after = sandbox.open()
    assert error_of(after, "1 + 1") is None
    after.kill()


def test_nothing_outlives_its_submission(sandbox):
    process = sandbox.open()
    process.cell("import subprocess\nsubprocess.Popen(['sleep', '987654'], start_new_session=True)", 10)
    process.kill()
    time.sleep(0.2)
    running = [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"987654" in _read(p)]
    assert running == []


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_memory_files_and_output_have_limits(process):
    assert error_of(process, "x = bytearray(2_000_000_000)") == "MemoryError"
    assert error_of(process, "import torch\ntorch.ones(10**9)") == "RuntimeError"
    assert error_of(process, "open('/tmp/x', 'wb').write(bytes(200_000_000))") == "OSError"
    process.cell("print('a' * 20_000_000)", 30)
    out, _ = process.take_printed()
    assert len(out) < 110_000 and "bytes more were printed" in out


def test_a_huge_answer_is_an_outcome(process):
    process.cell("import torch\ndef f(): return torch.zeros(20_000_000)", 10)
    reply = process.call(10, None, name="f", kind="function", probe="", payload=pickle.dumps([]), live={}, seed=0)
    assert reply["outcome"] == "output too large"


def test_a_forged_reply_is_a_lost_process(sandbox):
    process = sandbox.open()
    with pytest.raises(ProcessLost) as lost:
        process.cell("import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'\\x00' * 7 + b'\\x05junk!')\n    except OSError: pass", 5)
    assert lost.value.outcome == "crashed"


def test_a_fork_has_its_own_state(process):
    process.cell("import torch\nstate = []\ndef f():\n    state.append(1)\n    torch.set_default_dtype(torch.float64)\n    return len(state)", 10)
    for _ in range(2):
        fork = process.fork()
        reply = fork.call(10, None, name="f", kind="function", probe="", payload=pickle.dumps([]), live={}, seed=0)
        assert reply == {"value": 1}
        fork.kill()
    assert value_of(process, "str(torch.get_default_dtype())") == "torch.float32"


def test_many_forks_of_one_template(sandbox):
    for _ in range(25):
        process = sandbox.open()
        reply = process.cell("import torch\n(torch.ones(64, 64) @ torch.ones(64, 64)).sum().item()", 10)
        assert reply["result"] == {"text/plain": "262144.0"}
        process.kill()


def test_without_bubblewrap_a_clear_refusal(monkeypatch):
    monkeypatch.setattr(package.client.bubblewrap, "available", lambda: False)
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap.*--no-sandbox"):
        Sandbox()


def test_without_walls_the_same_answers():
    with Sandbox(walls=False, limits=Limits()) as bare:
        process = bare.open()
        assert process.cell("2 + 3", 10)["result"] == {"text/plain": "5"}
        assert value_of(process, "__import__('torch').ones(2)").equal(torch.ones(2))
        process.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become an ordinary user")
@needs_bubblewrap
def test_works_as_an_ordinary_user():
    """The walls stand by user namespaces too: everything else here ran as root."""
    code = (
        "import os\nfrom autograder.sandbox import Sandbox\nassert os.geteuid() == 65534\n"
        "with Sandbox() as s:\n    p = s.open()\n"
        "    print(p.cell('import os; 6 * 7, os.getpid(), os.listdir(\"/tmp\")', 10)['result'])\n    p.kill()\n"
    )
    # a home of root's that others may enter, since Python may lie in it
    home = ["--tmpfs", "/root", *(["--ro-bind-try", "/root/.pyenv", "/root/.pyenv"])]
    rights = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    person = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    done = subprocess.run(
        ["bwrap", "--dev-bind", "/", "/", *home, *rights, "--", *person, sys.executable, "-c", code],
        capture_output=True, text=True, cwd="/", env={"PATH": os.environ["PATH"]}, timeout=120,
    )  # fmt: skip
    assert f"(42, 1, {IN_TMP})" in done.stdout, done.stderr
