"""What a student's machine has and lacks for the course; each lack with the way to end it."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# packages of a student's notebook and their oldest versions, as in pyproject.toml
PACKAGES = {
    "numpy": "2",
    "matplotlib": "3.9",
    "ipykernel": "6.29",
    "ipywidgets": "8.1",
    "jupyterlab": "4.2",
    "tensorboard": "2.18",
    "platformdirs": "4",
}
TORCH = "2.9"
LAB_PORT = 8888
TRY_TORCH = """
import time
begun = time.monotonic()
import torch
assert torch.ones(2).sum().item() == 2
build = f"a build for CUDA {torch.version.cuda}" if torch.version.cuda else "the CPU build"
print(f"{torch.__version__}, {build}, ready in {time.monotonic() - begun:.1f} s")
"""


@dataclass(frozen=True)
class Finding:
    """One thing looked at. way_out: what to do about it, empty when all is well.

    needed: without it the work can't be done; else it is a note.
    """

    what: str
    found: str
    way_out: str = ""
    needed: bool = True

    @property
    def stops(self) -> bool:
        return bool(self.way_out) and self.needed

    def __str__(self) -> str:
        sign = "ok" if not self.way_out else "MISSING" if self.needed else "note"
        text = f"  {sign:<9}{self.what}: {self.found}"
        return f"{text}\n{'':11}{self.way_out}" if self.way_out else text


def for_work(folder: Path) -> list[Finding]:
    """What opening and checking the notebooks in `folder` needs."""
    packages = [package(name, oldest) for name, oldest in PACKAGES.items()]
    return [python(), torch(), *packages, disk(folder, 0.5), writable(folder), port()]


def python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))  # an older one does not come so far
    return Finding("Python", f"{version} at {sys.executable}")


def package(name: str, oldest: str) -> Finding:
    """A package that is installed and not older than wanted. Nothing is imported."""
    way_out = f'activate the course\'s environment, or: pip install "{name}>={oldest}"'
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, "not installed", way_out)
    too_old = _numbers(version) < _numbers(oldest)
    return Finding(name, version + (f", older than {oldest}" if too_old else ""), way_out if too_old else "")


def torch() -> Finding:
    """torch in a process of its own: a broken build may end the one that imports it."""
    found = package("torch", TORCH)
    if found.way_out:
        return found
    done = subprocess.run([sys.executable, "-c", TRY_TORCH], capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip() or f"its process ended with {done.returncode}").splitlines()[-1]
        return Finding("torch", f"installed, but it can't compute: {last}", "install it again from environment.yml")
    return Finding("torch", done.stdout.strip())


def disk(folder: Path, gigabytes: float) -> Finding:
    free = shutil.disk_usage(folder).free / 1e9
    way_out = "" if free >= gigabytes else f"free some space: {gigabytes:g} GB are wanted"
    return Finding("disk", f"{free:.1f} GB free at {folder}", way_out)


def writable(folder: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return Finding("folder", f"{folder} can be written")
    except OSError as error:
        way_out = "copy the course to a folder of yours, and work there"
        return Finding("folder", f"{folder}: {os.strerror(error.errno or 0)}", way_out)


def port() -> Finding:
    """Lab's usual port; Lab looks for another of its own accord, so a taken one is a note."""
    with socket.socket() as probe:
        taken = probe.connect_ex(("127.0.0.1", LAB_PORT)) == 0
    way_out = "JupyterLab takes the next free one: read the address that it prints" if taken else ""
    return Finding("port", f"{LAB_PORT} is {'taken' if taken else 'free'}", way_out, needed=False)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version.split("+")[0])[:3])
