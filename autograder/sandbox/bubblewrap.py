"""The walls: a bubblewrap command line that leaves Python, and nothing of the course.

Inside there is the system read-only, Python with its packages, and of this package only
what a notebook calls; no network, no home, no course, no gradebook, an own /tmp.
An ordinary user gets a user namespace. Root gives up being root inside (limits on
processes bind every user but root), which needs the right to change its user id.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import autograder

PACKAGE = Path(autograder.__file__).parent
# rooms that student code has no business in (cases, truths, verdicts, grading): all but two, new ones too
SHOWN = ("sandbox", "lesson", "__pycache__")
HIDDEN = tuple(sorted(p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name not in SHOWN))
NOBODY = 65534
MISSING = (
    "bubblewrap is not installed, so student code can't be kept from the course; install it "
    "(Debian and Ubuntu: apt-get install bubblewrap), or grade code that you trust with --no-sandbox"
)


def available() -> bool:
    """Whether bubblewrap is installed."""
    return shutil.which("bwrap") is not None


def command(python_args: list[str]) -> list[str]:
    """The command line that runs this Python with `python_args` inside the walls."""
    args = ["bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net"]
    args += ["--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "grading"]
    as_root = os.geteuid() == 0
    if as_root:
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SYS_ADMIN"):
            args += ["--cap-add", capability]  # given up in server.enter before anything else runs
    else:
        args += ["--unshare-user", "--proc", "/proc"]
    for path in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        args += _bind_system(path)
    args += ["--dir", "/etc"]
    for path in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/fonts"):
        args += ["--ro-bind-try", path, path]
    args += ["--perms", "1777", "--tmpfs", "/tmp"]
    for path in needed_paths():
        for parent in reversed(Path(path).parents[:-1]):
            args += ["--dir", str(parent)]  # of its own accord bubblewrap would make it root's alone
        args += ["--ro-bind", path, path]
    for room in HIDDEN:
        args += ["--tmpfs", str(PACKAGE / room), "--remount-ro", str(PACKAGE / room)]
    if as_root:
        args += ["--dir", "/proc"]
    args += ["--dev", "/dev", "--chdir", "/tmp"]
    args += ["--remount-ro", "/dev", "--remount-ro", "/", "--clearenv"]
    for name, value in environment().items():
        args += ["--setenv", name, value]
    return [*args, "--", sys.executable, *python_args]


def environment() -> dict[str, str]:
    """The whole environment of student code."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "IPYTHONDIR": "/tmp/ipython",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "AUTOGRADER_SANDBOX": "1",
    }


def _bind_system(path: str) -> list[str]:
    if os.path.islink(path):
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind", path, path] if os.path.isdir(path) else []


def needed_paths() -> list[str]:
    """Folders that Python needs: the environment, what it was made from, and this package; outermost only."""
    prefixes = [p for name in (sys.prefix, sys.base_prefix) for p in (name, os.path.realpath(name))]
    paths = {p for p in (*prefixes, str(PACKAGE)) if p != "/usr" and not p.startswith("/usr/")}
    return sorted(p for p in paths if not any(p != o and p.startswith(o + os.sep) for o in paths))
