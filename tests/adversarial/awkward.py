"""Honest students' submissions that trip graders: each built from a right one."""

from __future__ import annotations

import copy
import os

import nbformat
from nbformat.v4 import new_markdown_cell

from .course import ANSWERS, FAULT, FLOOR, IDS, NOTEBOOK, SCALE
from .rows import FULL, LARGE, LATE, LOST, NONE, RIGHT, WRONG, Draft, Rows

AWKWARD = row = Rows("awkward", RIGHT)
RIGHT_SCALE = ANSWERS[SCALE]
SLEEPER = "987654321"  # seconds; a word to find leftover processes by


def _scale(body: str, head: str = "") -> str:
    return f"{head}def scale(x, k):\n    {body}\n    return x * k\n"


# --- warnings and types -------------------------------------------------------------------------
row.scale("a right answer that warns, in Python and on descriptor 2", _scale("import os, warnings; warnings.warn('w'); os.write(2, b'from C++')"), RIGHT, stock=True)
row.scale("warnings made errors by the student's own cell", "import warnings\nwarnings.simplefilter('error')\n" + _scale("warnings.warn('w')"), RIGHT)
row.cell("a cell that warns and writes to descriptor 2", "import os, warnings\nwarnings.warn('w'); os.write(2, b'e')", stock=True)
for name, value, outcome in [
    ("nan", "float('nan')", WRONG), ("inf", "float('inf')", WRONG), ("a negative", "-1.0", WRONG), ("a string", "'0.5'", WRONG),
    ("None", "None", WRONG), ("a bool", "True", WRONG), ("a complex number", "1j", WRONG), ("a huge integer", "10**1000", WRONG),
    ("a 0-d tensor", "torch.tensor(0.5)", WRONG), ("a numpy scalar", "__import__('numpy').float64(0.5)", WRONG),
]:  # fmt: skip
    row.floor(f"{name} where a float is asked", f"def loss_floor(x, y, num_classes, label_smoothing):\n    return {value}\n", outcome, stock=name in ("nan", "inf", "a negative", "a string"))
row.scale("a list where a tensor is asked", "def scale(x, k):\n    return (x * k).tolist()\n", WRONG)
row.scale("float64 where float32 is asked", "def scale(x, k):\n    return (x * k).double()\n", WRONG)
row.scale("a generator", "def scale(x, k):\n    yield x * k\n", WRONG)
row.scale("a list that contains itself", "def scale(x, k):\n    a = []\n    a.append(a)\n    return a\n", LARGE)
row.scale("a tensor of 80 MB", "def scale(x, k):\n    return torch.zeros(20_000_000)\n", LARGE)
row.scale("a tensor that needs a gradient and is not contiguous", "def scale(x, k):\n    return (torch.stack([x, x], 1).requires_grad_() * k)[:, 0]\n", RIGHT)
row.scale("a callable object", "class Scale:\n    def __call__(self, x, k):\n        return x * k\nscale = Scale()\n", RIGHT)
row.scale("a lambda and functools.partial", "import functools, operator\nscale = functools.partial(lambda f, x, k: f(x, k), operator.mul)\n", RIGHT)
row.scale("an error whose text fails", "class Odd(Exception):\n    def __str__(self): raise self\ndef scale(x, k):\n    raise Odd()\n", LOST)
row.cell("a cell whose error fails to say what it is", "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd()")


# --- cells moved, copied, changed, lost -----------------------------------------------------------
@row("a graded cell copied and pasted", said="a copy of this cell was ignored", stock=True)
def _(d: Draft) -> None:
    d.notebook.cells.append(copy.deepcopy(d.check(SCALE)))


def _wrong_without_check(d: Draft) -> None:
    d.solve(SCALE, "def scale(x, k):\n    return x\n")
    d.notebook.cells.remove(d.check(SCALE))


row("right, then handed in again wrong with its graded cell deleted", scale=WRONG, said="was deleted", before=lambda d: None, stock=True)(_wrong_without_check)


@row("a graded cell turned to markdown", said="type or grading flags", stock=True)
def _(d: Draft) -> None:
    at = d.notebook.cells.index(d.check(SCALE))
    d.notebook.cells[at] = new_markdown_cell(d.check(SCALE).source, metadata=d.check(SCALE).metadata)


row("a graded cell with its grade flag off", said="type or grading flags", stock=True)(lambda d: d.check(SCALE).metadata.nbgrader.update(grade=False))
row("a graded cell with another id", said="grading id", stock=True)(lambda d: d.check(SCALE).metadata.nbgrader.update(grade_id="mine"))
row("a graded cell with its text changed", said="text was changed")(lambda d: d.check(SCALE).update(source="pass"))
row("all metadata lost", said="grading id")(lambda d: [c.update(metadata={}) for c in d.notebook.cells])
row("the setup cell deleted", said="was deleted")(lambda d: d.notebook.cells.remove(d.cell("setup")))
row("every cell in another order", stock=True)(lambda d: d.notebook.cells.reverse())


@row("an answer defined in a later cell", stock=True)
def _(d: Draft) -> None:
    d.solve(SCALE, "# see the end")
    d.code(RIGHT_SCALE, at=len(d.notebook.cells))


@row("an answer in two cells, with a helper in a cell of its own")
def _(d: Draft) -> None:
    d.code("def helper(x, k):\n    return x * k")
    d.solve(SCALE, "def scale(x, k):\n    return helper(x, k)\n")


row.scale("an answer that uses a name of a lesson cell", "def scale(x, k):\n    return x * k if from_the_lesson == 3.0 else x\n", RIGHT)


@row("an answer that uses a right helper of a wrong exercise", floor=WRONG)
def _(d: Draft) -> None:
    d.solve(FLOOR, "def times(x, k):\n    return x * k\ndef loss_floor(x, y, num_classes, label_smoothing):\n    return -1.0\n")
    d.solve(SCALE, "def scale(x, k):\n    return times(x, k)\n")


@row("blank", every=NONE, stock=True)
def _(d: Draft) -> None:
    d.notebook = nbformat.from_dict(d.notebook)
    for exercise_id in IDS:
        d.solve(exercise_id, ANSWERS[exercise_id].split("\n")[0] if exercise_id == "" else _stub(exercise_id))


def _stub(exercise_id: str) -> str:
    from .course import STUBS

    return f"{STUBS[exercise_id]}\n    raise NotImplementedError()\n"


row("half finished, its first cell a syntax error", floor=NONE, stock=True)(lambda d: d.solve(FLOOR, "def loss_floor(x, y\n"))
row("no cell but one of markdown", every=NONE, said="was deleted")(lambda d: d.notebook.update(cells=[new_markdown_cell("hello")]))

# --- what ends a process ----------------------------------------------------------------------------
row.scale("os._exit in the answer's cell", RIGHT_SCALE + "import os\nos._exit(3)\n", LOST, stock=True)
row.scale("os._exit in the answer", _scale("import os; os._exit(0)"), LOST, stock=True)
row.scale("sys.exit in the answer", _scale("raise SystemExit"), LOST)
row.scale("memory used up by the answer", _scale("y = bytearray(5 << 30)"), FULL)
row.scale("memory used up by a tensor", _scale("y = torch.ones(5 << 28)"), FULL)
row.scale("memory used up step by step", _scale("y = [bytearray(32 << 20) for _ in range(5000)]"), FULL)
row.scale("memory used up by processes that the answer starts", "import os, time\ndef scale(x, k):\n    for _ in range(8):\n        if os.fork() == 0:\n            y = bytearray(b'x') * (100 << 20)\n            time.sleep(60)\n    time.sleep(60)\n", FULL)
row.scale("recursion without an end", "def scale(x, k):\n    return scale(x, k)\n", LOST)
row.scale("recursion until the stack overflows", "import sys\nsys.setrecursionlimit(10**9)\ndef scale(x, k):\n    a = []\n    for _ in range(10**5): a = [a]\n    return repr(a)\n", LOST)
row.scale("an endless loop in the answer, deaf to interrupts", "import signal\ndef scale(x, k):\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass\n", LATE)
row.scale("an endless loop in the answer's cell", RIGHT_SCALE + "while True: pass\n", LATE, stock=True)
row.cell("a thread that sleeps", f"import threading, time\nthreading.Thread(target=time.sleep, args=({SLEEPER},)).start()")
row.cell("a detached child process", f"import subprocess\nsubprocess.Popen(['sleep', '{SLEEPER}'], start_new_session=True)")
row.scale("an answer that leaves a process behind", _scale(f"subprocess.Popen(['sleep', '{SLEEPER}'], start_new_session=True)", "import subprocess\n"), RIGHT)

# --- output --------------------------------------------------------------------------------------------
row.cell("20 MB on one line", "print('a' * 20_000_000)")
row.cell("a million lines", "for i in range(1_000_000): print(i)")
row.cell("a result of 20 MB", "'a' * 20_000_000")
row.cell("an image of 50 MB", "from IPython.display import Image, display\ndisplay(Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + bytes(50_000_000), format='png'))")
row.cell("a thousand plots", "import matplotlib.pyplot as plt\nfor i in range(60):\n    plt.figure(figsize=(1, 1)); plt.plot([i]); plt.show()")
row.scale("20 MB printed by the answer", _scale("print('a' * 20_000_000)"), RIGHT)
row.cell("input() in a cell", "name = input('your name? ')\nassert name == ''")
row.cell("a widget in a cell", "import ipywidgets\nfrom IPython.display import display\ndisplay(ipywidgets.interactive(lambda x: x, x=3))")
row.cell("a progress bar in a cell", "import sys\nfor i in range(1000): sys.stderr.write(f'\\r{i / 10}%'); sys.stderr.flush()", stock=True)
row.cell("magics", "%time x = 1\n%timeit -n1 -r1 x\n!echo hello\n%config InlineBackend.figure_format = 'svg'")
row.cell("text that is half a character", "text = '\\ud800'\nprint(text)\ntext")


@row("half a character in the source")
def _(d: Draft) -> None:
    d.text("lone \ud800 surrogate")
    d.solve(SCALE, RIGHT_SCALE + "# \udfff\n")


# --- files ----------------------------------------------------------------------------------------------
row("renamed '... (1).ipynb'", said="was taken for")(lambda d: setattr(d, "name", f"{NOTEBOOK} (1).ipynb"))
row("an extra scratch notebook", said="was ignored")(lambda d: d.files.update({"scratch.ipynb": b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'}))
row("handed in twice", said="-Copy1.ipynb")(lambda d: d.files.update({f"{NOTEBOOK}-Copy1.ipynb": nbformat.writes(d.notebook).encode()}))
row("nothing handed in", every=NONE, said="was not handed in")(lambda d: setattr(d, "name", ""))


def _bytes(content: bytes) -> object:
    return lambda d: d.files.update({f"{NOTEBOOK}.ipynb": content})


row("an empty file", every=NONE, said="not a notebook")(_bytes(b""))
row("invalid JSON", every=NONE, said="not a notebook")(_bytes(b"{'cells': ["))
row("JSON that is no notebook", every=NONE, said="not a notebook")(_bytes(b"[1, 2, 3]"))
row("JSON nested ten thousand deep", every=NONE, said="not a notebook")(_bytes(b"[" * 10_000))
row("not UTF-8", every=NONE, said="not UTF-8")(lambda d: d.files.update({f"{NOTEBOOK}.ipynb": nbformat.writes(d.notebook).encode("utf-16")}))
row("a byte order mark and Windows line ends")(lambda d: d.files.update({f"{NOTEBOOK}.ipynb": b"\xef\xbb\xbf" + nbformat.writes(d.notebook).replace("\n", "\r\n").encode()}))
row("nbformat 3")(lambda d: d.files.update({f"{NOTEBOOK}.ipynb": nbformat.writes(nbformat.convert(d.notebook, 3)).encode()}))
row("a folder in the place of the notebook", every=NONE, said="plain file")(lambda d: (setattr(d, "name", ""), d.last.append(lambda f: (f / f"{NOTEBOOK}.ipynb").mkdir(exist_ok=True))))
row("a pipe in the place of the notebook", every=NONE, said="plain file")(lambda d: (setattr(d, "name", ""), d.last.append(lambda f: os.mkfifo(f / f"{NOTEBOOK}.ipynb"))))
row("a malformed timestamp", said="not a date")(lambda d: d.files.update({"timestamp.txt": b"yesterday \xff"}))
row("a name with a comma, quotes and other letters", student='O\'Brien, "Zoë" Ünïcode')(lambda d: None)
row("an id of digits only", student="0012345")(lambda d: None)
row("an id with a leading dash", student="-rf")(lambda d: None)
row("an id with spaces and brackets", student=" [ada]* lovelace ")(lambda d: None)

# --- what an answer leaves behind -----------------------------------------------------------------------
STATE = "torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False); torch.manual_seed(0); torch.use_deterministic_algorithms(True); torch.set_num_threads(3)"
row.cell("global state changed in a cell", f"import torch\n{STATE}\ntorch.set_default_device('meta')", stock=True)
row.scale("global state changed by the answer", _scale(STATE), RIGHT)
row.cell("warnings replaced", "import warnings\nwarnings.warn = warnings.showwarning = lambda *a, **k: None", stock=True)
row.scale("an answer that changes its inputs", "def scale(x, k):\n    return x.mul_(k)\n", RIGHT, said="changed its inputs")
row.scale("an answer that changes its inputs and is wrong", "def scale(x, k):\n    x.zero_()\n    return x\n", WRONG, said="changed its inputs")
row.scale("an answer that remembers its calls", "calls = []\ndef scale(x, k):\n    calls.append(x)\n    return x * k if len(calls) < 99 else calls\n", RIGHT)
row("an answer to a live run that asks nonsense", fault=LOST)(lambda d: d.solve(FAULT, "def find_fault(run):\n    return run.measure(object(), [print])\n"))
