"""Text that anybody may have written, made fit to be stored."""

from __future__ import annotations


def writable(text: str) -> str:
    """The text with lone surrogates replaced: they pass through JSON, and no file can hold them."""
    return text.encode("utf-8", "replace").decode()
