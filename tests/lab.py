"""A real JupyterLab on a copy of what students open, and a browser's hands on it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, Callable, Iterator

import nbformat
import psutil
import pytest
from nbformat import NotebookNode

from autograder.build import ASSIGNMENT

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="needs Debian's package chromium: apt-get install chromium")
CONNECTED = '.jp-Notebook-ExecutionIndicator:is([data-status="idle"], [data-status="busy"])'
FIGURE = ".jp-OutputArea img"
CHANGED = "([cell, figure, src]) => { const now = cell.querySelector(figure); return now && now.src !== src }"
STATE = "control => control.type === 'checkbox' ? control.checked : control.getAttribute('aria-valuenow')"
PATIENCE = 120_000  # milliseconds; a loaded machine is slow, not broken


class Lab:
    """A server started as `make lab` starts it, below a folder of its own; notebooks lie in `course`."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.course, self.progress = folder / "course", folder / "progress"
        shutil.copytree(ROOT / "notebooks" / ASSIGNMENT, self.course)
        self.token = secrets.token_hex(8)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
        self.environment = {
            **os.environ,
            **{name: str(folder / name.lower()) for name in own},
            "AUTOGRADER_PROGRESS": str(self.progress),
            "JUPYTER_CONFIG_PATH": str(ROOT / "binder" / "jupyter"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            **environment,
        }
        self.environment.pop("COVERAGE_PROCESS_START", None)
        self.log = folder / "lab.log"
        words = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={self.port}"]
        words += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={self.token}", str(self.course)]
        self.begun = time.monotonic()
        with self.log.open("w") as log:
            self.process = psutil.Popen(words, env=self.environment, stdout=log, stderr=log, cwd=folder)

    def url(self, path: str) -> str:
        """An address on this server."""
        joint = "&" if "?" in path else "?"
        return f"http://127.0.0.1:{self.port}/{path}{joint}token={self.token}"

    def ask(self, path: str, method: str = "GET") -> Any:
        """The server's own answer to a request."""
        with urllib.request.urlopen(urllib.request.Request(self.url(path), method=method), timeout=60) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def wait(self) -> None:
        """Until the server answers."""
        until = time.monotonic() + PATIENCE / 1000
        while True:
            try:
                return self.ask("api/status") and None
            except OSError:
                assert self.process.is_running() and time.monotonic() < until, self.log.read_text()[-3000:]
                time.sleep(0.1)

    def kernels_busy(self, name: str) -> bool:
        """Whether the kernel of a notebook works, or has not started yet."""
        here = [s for s in self.ask("api/sessions") if Path(s["path"]).stem == name]
        return not here or here[0]["kernel"]["execution_state"] != "idle"

    def close_kernels(self, name: str) -> None:
        """End the session of a notebook, which frees its memory."""
        for session in self.ask("api/sessions"):
            if Path(session["path"]).stem == name:
                self.ask(f"api/sessions/{session['id']}", "DELETE")

    def peak_megabytes(self) -> dict[str, float]:
        """Peak resident memory of the server, and of the largest kernel, since each began."""
        kernels = [p for p in self.process.children(recursive=True) if "ipykernel_launcher" in " ".join(p.cmdline())]
        return {
            "server": _peak(self.process.pid),
            "kernel": max((_peak(kernel.pid) for kernel in kernels), default=0.0),
        }

    def stop(self) -> None:
        """End the server and its kernels."""
        children = self.process.children(recursive=True)
        self.process.terminate()
        _, alive = psutil.wait_procs([self.process, *children], timeout=20)
        for process in alive:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def _peak(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


@contextlib.contextmanager
def started(folder: Path, **environment: str) -> Iterator[Lab]:
    """A server for the length of a block."""
    lab = Lab(folder, **environment)
    try:
        lab.wait()
        yield lab
    finally:
        lab.stop()


class Page:
    """Lab in a browser's page, with one notebook in view at a time."""

    def __init__(self, lab: Lab, page: Any, name: str) -> None:
        self.lab, self.page, self.name = lab, page, name
        page.set_default_timeout(PATIENCE)
        page.goto(lab.url(f"lab/tree/{name}.ipynb?reset"))
        self._in_view()

    def open(self, name: str) -> None:
        """Another notebook, from the list of files."""
        self.name = name
        self.page.locator(f'.jp-DirListing-item[title^="Name: {name}.ipynb"]').dblclick()
        self._in_view()

    def back_to(self, name: str) -> None:
        """A notebook that is open already."""
        self.name = name
        self.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=name).click()
        self._in_view()

    def _in_view(self) -> None:
        self.page.locator(f'.lm-TabBar-tab.jp-mod-current:has-text("{self.name}")').first.wait_for()
        self.panel = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)").first
        self.panel.locator(".jp-Notebook .jp-Cell").first.wait_for()
        self.panel.locator(CONNECTED).wait_for(state="attached")  # a cell run before has no kernel to go to
        self.page.wait_for_function("() => document.activeElement?.closest('.jp-Notebook')")  # keys go here
        until = time.monotonic() + PATIENCE / 1000
        while not any(Path(session["path"]).stem == self.name for session in self.lab.ask("api/sessions")):
            assert time.monotonic() < until, f"{self.name} gets no kernel"
            time.sleep(0.1)

    def close(self) -> None:
        """Save the notebook in view, close it and end its kernel."""
        self.page.keyboard.press("Control+s")
        self.page.locator(".lm-TabBar-tab.jp-mod-current:not(.jp-mod-dirty)").first.wait_for()
        self.lab.close_kernels(self.name)
        self.page.locator(".lm-TabBar-tab.jp-mod-current .lm-TabBar-tabCloseIcon").first.click()

    @property
    def file(self) -> Path:
        """The notebook on disk."""
        return self.lab.course / f"{self.name}.ipynb"

    def menu(self, *words: str) -> None:
        """Choose from the menus on top."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text=words[0]).first.click()
        for word in words[1:]:
            self.page.locator(".lm-Menu-itemLabel", has_text=word).first.click()

    def run_all(self) -> None:
        """Run > Run All Cells, without waiting."""
        self.menu("Run", "Run All Cells")

    def saved(self, wanted: Callable[[NotebookNode], bool]) -> NotebookNode:
        """The notebook on disk, saved by Control+S until it is as wanted."""
        until = time.monotonic() + PATIENCE / 1000
        while time.monotonic() < until:
            if not self.lab.kernels_busy(self.name):
                self.page.keyboard.press("Control+s")
            time.sleep(0.4)
            with contextlib.suppress(nbformat.reader.NotJSONError):  # half of it is written
                nb = nbformat.read(self.file, as_version=4)
                if wanted(nb):
                    return nb
        raise AssertionError(f"{self.name} is not saved as wanted")

    def finished(self) -> NotebookNode:
        """The saved notebook once every code cell ran, or one of them failed."""
        return self.saved(_came_to_an_end)

    def cell(self, text: str) -> Any:
        """The first code cell that holds a text."""
        return self.panel.locator(".jp-CodeCell", has=self.page.locator(".jp-InputArea", has_text=text)).first

    def to_cell(self, text: str) -> None:
        """Go down with Shift+Enter, running what is passed, until the active cell holds a text."""
        active = self.panel.locator(".jp-Cell.jp-mod-active")
        for _ in range(200):
            if text in active.inner_text():
                return
            self.page.keyboard.press("Shift+Enter")
        raise AssertionError(f"no cell holds {text!r}")

    def type_cell(self, code: str) -> None:
        """Write a line into the active cell, and run it."""
        self.page.keyboard.press("Enter")
        self.page.keyboard.type(code)
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Shift+Enter")

    def rewrite_cell(self, text: str, code: str) -> None:
        """Go up to the cell that holds a text, write other code in its place, and run it."""
        active = self.panel.locator(".jp-Cell.jp-mod-active")
        while text not in active.inner_text():
            self.page.keyboard.press("ArrowUp")
        self.page.keyboard.press("Enter")
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Shift+Enter")

    def move_controls(self) -> list[tuple[str, float | None]]:
        """Move each control below `explore` by one key: its label, and seconds until its figure was another one.

        None where the figure stays as it was.
        """
        cells = self.panel.locator(".jp-CodeCell", has=self.page.locator(".jp-InputArea", has_text="explore("))
        return [move for cell in cells.all() for move in self._move_controls_of(cell)]

    def _move_controls_of(self, cell: Any) -> Iterator[tuple[str, float | None]]:
        from playwright.sync_api import TimeoutError

        cell.scroll_into_view_if_needed()
        cell.locator(FIGURE).first.wait_for()
        for row in cell.locator(".widget-slider, .widget-checkbox").all():
            checkbox = "widget-checkbox" in row.get_attribute("class")
            before, begun = cell.locator(FIGURE).first.get_attribute("src"), time.monotonic()
            handle = row.locator("[role=slider], input").first
            at_the_end = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
            self._press_until_it_moves(handle, "Space" if checkbox else "ArrowLeft" if at_the_end else "ArrowRight")
            try:
                self.page.wait_for_function(CHANGED, arg=[cell.element_handle(), FIGURE, before], timeout=15_000)
                yield _label(row), time.monotonic() - begun
            except TimeoutError:
                yield _label(row), None

    def _press_until_it_moves(self, handle: Any, key: str) -> None:
        """Press a key on a control; again where Lab took the focus away before the key came."""
        before = handle.evaluate(STATE)
        for _ in range(3):
            handle.press(key)
            self.page.wait_for_timeout(100)
            if handle.evaluate(STATE) != before:
                return


def _label(row: Any) -> str:
    """A control's label, without what it is set to."""
    return row.inner_text().strip("\N{ZERO WIDTH SPACE}\n ").split("\n")[0]


def _came_to_an_end(nb: NotebookNode) -> bool:
    cells = [cell for cell in nb.cells if cell.cell_type == "code"]
    failed = any(output.output_type == "error" for cell in cells for output in cell.outputs)
    return failed or all(cell.execution_count for cell in cells)
