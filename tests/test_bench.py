"""The benchmark runs to its end and tells all of its figures; how large they are is for `make bench` to say."""

import json
import subprocess
import sys

import pytest

from .conftest import ROOT, needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.long]
FIGURES = {
    "stock_s_per_notebook", "ours_s_per_notebook", "speedup", "floor_s_per_notebook", "over_floor",
    "regrade_fraction", "growth_10_to_1000", "peak_pss_mb", "first_result_s", "stock_road_speedup",
}  # fmt: skip


def last_line(module, *words):
    done = subprocess.run([sys.executable, "-m", module, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_every_figure_of_a_small_class():
    small = ("--students", "1", "--rounds", "1", "--growth", "11", "--notebook", "05_histograms")
    figures = last_line("tests.bench", *small)
    assert set(figures) == FIGURES
    assert all(type(value) in (int, float) and value > 0 for value in figures.values())
