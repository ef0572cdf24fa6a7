"""Files that are there whole or not at all, whatever interrupts their writing."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file; a reader sees what was there before, or all of the text. Errors: OSError naming the file."""
    partial = path.with_name(".partial")  # one writer a folder, and names may be as long as names can be
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from None
