"""Text that anybody may have written, made fit to be stored."""

from __future__ import annotations


def writable(text: str) -> str:
    """The text with lone surrogates replaced: they pass through JSON, and no file can hold them."""
    return text.encode("utf-8", "replace").decode()


def printable(text: str) -> str:
    """The text on one line, with control characters, direction marks and the like as visible escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
