"""Seeds of the hidden cases: fresh for each student, the same at every regrade."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from pathlib import Path

BYTES = 32


class SecretUnreadable(RuntimeError):
    """The course secret is there and can't be used; the text names the file and the way out."""


def course_secret(path: Path) -> bytes:
    """The course's secret; made at the first grading, readable by its owner alone.

    Errors: SecretUnreadable. A damaged secret is never replaced in silence: with another
    one every student would get other hidden cases at the next regrade.
    """
    if not os.path.lexists(path):
        try:
            _make(path)
        except OSError as error:
            raise SecretUnreadable(f"{path}: the course secret can't be written: {error.strerror}") from None
    return _read(path)


def _make(path: Path) -> None:
    """Write a new secret, whole or not at all, and only where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=".secret-")  # for the owner's eyes alone
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(BYTES) + "\n")
        with contextlib.suppress(FileExistsError):
            os.link(partial, path)
    finally:
        os.unlink(partial)


def _read(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        secret = bytes.fromhex(path.read_text().strip())
    except (OSError, ValueError, UnicodeDecodeError):
        secret, mode = b"", 0
    if len(secret) != BYTES:
        raise SecretUnreadable(
            f"{path}: expected {2 * BYTES} hexadecimal digits, the course secret; restore the file from a backup, "
            "or remove it to draw new hidden cases for everybody"
        )
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SecretUnreadable(f"{path}: others may read the course secret; run: chmod 600 {path}")
    return secret


def seed_for(secret: bytes, student: str, exercise_id: str) -> int:
    """Seed of one student's hidden cases of one exercise: 62 bits of HMAC-SHA256."""
    message = f"{len(student)}:{student}/{exercise_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.new(secret, message, hashlib.sha256).digest()[:8], "big") >> 2
