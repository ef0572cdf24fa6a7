"""Running notebooks in a fresh kernel, so that a second run gives the same bytes."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from typing import Iterable, Iterator

from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from .course import Problem
from .text import check_id, grader

WIDGET = "application/vnd.jupyter.widget-view+json"
CELL_SECONDS = 120
# Hidden cases are fresh at each run; in a build they must be the same every time.
FIXED_SEED = "__import__('secrets').randbits = lambda bits: 19_081 % 2**bits"
QUIET = "--IPKernelApp.log_level=40"  # errors only
VOLATILE = re.compile(r"\b0x[0-9a-f]{6,}|ipykernel_\d+|/tmp/\S+")


def execute(nb: NotebookNode, fixed: bool = True, seconds: int = CELL_SECONDS) -> str:
    """Run all cells of a notebook in place, errors included, in an empty folder.

    fixed: draw the same hidden cases every time. seconds: limit of one cell.
    Returns: why the run stopped early, or an empty string.
    """
    client = NotebookClient(
        nb,
        timeout=seconds,
        kernel_name="python3",
        allow_errors=True,
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=[QUIET, *([f"--IPKernelApp.exec_lines={FIXED_SEED}"] if fixed else [])],
    )
    with tempfile.TemporaryDirectory() as folder:
        client.resources = {"metadata": {"path": folder}}
        try:
            client.execute(env=kernel_environment())
        except CellTimeoutError:
            return f"a cell runs longer than {seconds} s"
        except DeadKernelError:
            return "the kernel died"
        finally:
            _tidy(nb)
    return ""


def execute_all(notebooks: Iterable[NotebookNode], workers: int = 2) -> list[str]:
    """`execute` on several notebooks at a time; why each stopped early, in their order."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(execute, notebooks))


def kernel_environment() -> dict[str, str]:
    """The environment of a kernel: this Python first, one thread, a fixed hash seed."""
    folder = str(Path(sys.executable).parent)
    fixed = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "COLUMNS": "100", "AUTOGRADER_PROGRESS": "off"}
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}", **fixed}


def _tidy(nb: NotebookNode) -> None:
    """Drop what differs from run to run: timings, widgets and their views, the kernel's version."""
    nb.metadata.pop("widgets", None)
    nb.metadata.language_info = NotebookNode(
        {k: v for k, v in nb.metadata.get("language_info", {}).items() if k not in ("version", "codemirror_mode")}
    )
    nb.metadata.language_info.pop("nbconvert_exporter", None)
    for cell in nb.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if WIDGET not in o.get("data", {})]


def run_problems(nb: NotebookNode, stopped: str, file: str) -> list[Problem]:
    """What must not be in a solved notebook that ran: failures, warnings, lost points, addresses."""
    problems = [Problem(file, "", stopped)] if stopped else []
    for position, cell in enumerate(nb.cells, 1):
        if cell.cell_type != "code":
            continue
        name = f"cell {grader(cell).get('grade_id') or position!r}"
        found = [Problem(file, name, text) for text in _cell_problems(cell)]
        problems += found
        if any(o.output_type == "error" for o in cell.outputs):
            break  # what follows may fail for no other reason
    return problems


def _cell_problems(cell: NotebookNode) -> Iterator[str]:
    for output in cell.outputs:
        if output.output_type == "error":
            yield f"fails with {output.ename}: {output.evalue[:500]}"
        if output.output_type == "stream" and output.name == "stderr":
            yield f"writes to stderr, which differs from run to run: {output.text[:300]!r}"
        if "image/png" in output.get("data", {}) and "alt" not in cell.metadata:
            yield "shows a figure without a caption; open the markdown cell below it with one: *A sentence or two.*"
    volatile = VOLATILE.search(output_text(cell))
    if volatile:
        yield f"prints {volatile[0]!r}, which differs from run to run"
    points = grader(cell).get("points")
    if check_id(cell) is not None and points is not None and result_text(cell) != str(float(points)):
        earned = result_text(cell) or "nothing"
        yield f"the reference solution earns {earned} of {float(points)} points{_first_failure(cell)}"


def _first_failure(cell: NotebookNode) -> str:
    """The first row of a check's table, which opens with failures."""
    table = "".join(o.get("data", {}).get("text/html", "") for o in cell.outputs).partition("<tbody>")[2]
    row = re.sub(r"\s+", " ", unescape(re.sub("<[^>]+>", " ", table.partition("</tr>")[0]))).strip()
    return f": {row[:400]}" if row else ""


def output_text(cell: NotebookNode) -> str:
    """All plain text that a cell put out: streams, results, displays."""
    parts = [o.get("text", "") or o.get("data", {}).get("text/plain", "") for o in cell.get("outputs", [])]
    return "\n".join(parts)


def result_text(cell: NotebookNode) -> str:
    """Plain text of a cell's result, empty where it has none."""
    results = [o.data.get("text/plain", "") for o in cell.outputs if o.output_type == "execute_result"]
    return results[0] if results else ""
