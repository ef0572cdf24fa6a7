"""Outputs of cells as a notebook may keep them: plain text and checked images, within a budget of bytes.

Whatever a student's process sent ends up in autograded notebooks, in feedback pages and in formgrader,
which runs in the instructor's browser. So there is nothing here that a browser would execute, nothing
that a terminal would obey, and nothing that shows text in another order than it has.
"""

from __future__ import annotations

import base64
import binascii
import re

from nbformat import NotebookNode
from nbformat.v4 import new_output

from ..render import item_html, item_text
from ..result import ItemResult

NOTEBOOK_BYTES = 10_000_000
IMAGES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
# controls, and the marks that reorder a line
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Outputs:
    """Makes outputs for one notebook and counts their bytes."""

    def __init__(self) -> None:
        self.left = NOTEBOOK_BYTES

    def of_cell(self, reply: object, printed: tuple[str, str]) -> list[NotebookNode]:
        """What a cell printed, displayed, returned and raised, as far as what arrived has their shape."""
        outputs = [self._stream(name, text) for name, text in zip(("stdout", "stderr"), printed) if text]
        if type(reply) is not dict:
            return outputs
        for data in _list(reply.get("displays")):
            outputs += [new_output("display_data", data=d) for d in self._bundle(data)]
        for data in self._bundle(reply.get("result")):
            outputs.append(new_output("execute_result", data=data, execution_count=1))
        error = reply.get("error")
        if type(error) is dict and all(type(error.get(k)) is str for k in ("ename", "evalue")):
            lines = [line for line in _list(error.get("traceback")) if type(line) is str]
            outputs.append(self._error(error["ename"][:200], error["evalue"], lines))
        return outputs

    def of_loss(self, outcome: str, text: str, printed: tuple[str, str]) -> list[NotebookNode]:
        """What a cell printed before its process was lost, and how that came."""
        return [*self.of_cell({}, printed), self._error(outcome, text, [f"{outcome}: {text}"])]

    def said(self, text: str) -> list[NotebookNode]:
        """One sentence of ours, as if printed."""
        return [self._stream("stderr", text)]

    def _stream(self, name: str, text: str) -> NotebookNode:
        return new_output("stream", name=name, text=self._within(text))

    def _error(self, name: str, text: str, lines: list[str]) -> NotebookNode:
        shown = [self._within(line) for line in lines[:40]]
        return new_output("error", ename=visible(name), evalue=self._within(text), traceback=shown)

    def _within(self, text: str) -> str:
        text = visible(text)
        kept = text[: max(0, self.left)]
        self.left -= len(text)
        return kept if kept == text else kept + "\n[the notebook's outputs are too large; the rest is left out]\n"

    def _bundle(self, data: object) -> list[dict]:
        """The data of a display, or nothing when it is none; images count by their bytes."""
        if type(data) is not dict or not data:
            return []
        shown = {}
        for mime, value in data.items():
            if mime == "text/plain" and type(value) is str:
                shown[mime] = self._within(value[:100_000])
            elif mime in IMAGES and type(value) is str and len(value) <= self.left and _is_image(value, IMAGES[mime]):
                shown[mime] = value
                self.left -= len(value)
        return [shown] if shown else []


def of_verdict(item: ItemResult) -> list[NotebookNode]:
    """A table for people, then the mark as the one result that nbgrader reads."""
    table = new_output("display_data", data={"text/html": item_html(item), "text/plain": item_text(item)})
    mark = new_output("execute_result", data={"text/plain": repr(item.mark)}, execution_count=1)
    return [table, mark]


def visible(text: str) -> str:
    """Text without colors and overwritten progress, other control characters as visible escapes."""
    lines = _COLORS.sub("", text).split("\n")
    return escaped("\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines))


def escaped(text: str) -> str:
    """Text whose control characters and direction marks are visible escapes."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _is_image(value: str, magic: bytes) -> bool:
    try:
        return base64.b64decode(value.replace("\n", ""), validate=True).startswith(magic)
    except (ValueError, binascii.Error):
        return False


def _list(value: object) -> list:
    return value[:50] if type(value) is list else []
