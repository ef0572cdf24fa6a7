"""Shared by the tests: one warm sandbox a worker, one thread, and courses in scratch folders."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from autograder.sandbox import Limits, Sandbox, bubblewrap

ROOT = Path(__file__).parents[1]
needs_bubblewrap = pytest.mark.skipif(
    not bubblewrap.available(), reason="needs Debian's package bubblewrap: apt-get install bubblewrap"
)


# Modules and classes that take longest begin first, so that two workers end together; from --durations=0.
LONGEST = ("test_grading", "test_faults", "test_claims", "TestSolved", "test_adversarial", "test_browser",
           "TestReleased", "test_cluster", "test_people", "test_build", "test_gradebook", "test_workers")  # fmt: skip


def pytest_collection_modifyitems(items):
    def rank(item):
        names = {part.removesuffix(".py") for part in item.nodeid.replace("/", "::").split("::")}
        return next((n for n, name in enumerate(LONGEST) if name in names), len(LONGEST))

    items.sort(key=rank)


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    torch.set_num_threads(1)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader looks for alembic


@pytest.fixture(scope="session")
def sandbox():
    if not bubblewrap.available():
        pytest.skip("needs Debian's package bubblewrap: apt-get install bubblewrap")
    with Sandbox(limits=Limits(memory=512 << 20)) as made:
        yield made


@pytest.fixture(scope="session")
def course_root(tmp_path_factory):
    """A scratch copy of the course, with a gradebook made by stock `nbgrader generate_assignment`."""
    root = tmp_path_factory.mktemp("course")
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for name in ("solutions", "notebooks"):
        shutil.copytree(ROOT / name / "s19-debugging", root / name / "s19-debugging")
    done = subprocess.run(
        ["nbgrader", "generate_assignment", "s19-debugging", "--force"], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return root
