"""A submission that came as a zip: its notebooks, unpacked beside the submissions and trusted in nothing.

Only files that could be graded are taken out, under their bare names, within limits of size and number.
"""

from __future__ import annotations

import os
import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from ..handin import MAX_BYTES as MAX_FILE
from ..text import writable

MAX_MEMBERS = 1000
MAX_TOTAL = 200 << 20
TIMESTAMP = "timestamp.txt"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)


def unpacked(folder: Path, target: Path) -> tuple[Path, list[str]]:
    """The folder to grade: `folder`, or `target` with what the newest zip in it holds. Also notes.

    Notebooks that lie beside a zip are graded in its place. Errors: none for what a student handed in.
    """
    archives = sorted((p for p in folder.glob("*.zip") if p.is_file() and not p.is_symlink()), key=_age)
    if not archives:
        return folder, []
    if any(folder.glob("*.ipynb")):
        return folder, [f"{path.name} was ignored: notebooks lie beside it" for path in archives]
    *older, newest = archives
    notes = [f"{path.name} was ignored: {newest.name} is newer" for path in older]
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    try:
        return target, [*notes, *_unpack(newest, target)]
    except _BROKEN:
        return target, [*notes, f"{newest.name} is not a zip that can be read; make it again with: autograder submit"]


def _age(path: Path) -> tuple[float, str]:
    return path.stat().st_mtime, path.name


def _unpack(path: Path, target: Path) -> list[str]:
    """Write the archive's notebooks and its timestamp. Returns notes."""
    notes, left = [], MAX_TOTAL
    if path.stat().st_size > MAX_TOTAL:
        return [f"{path.name} has {path.stat().st_size:,} bytes and was not unpacked; {MAX_TOTAL:,} are allowed"]
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > MAX_MEMBERS:
            return [f"{path.name} holds {len(members):,} files and was not unpacked; {MAX_MEMBERS:,} are allowed"]
        for member in sorted(members, key=lambda m: (m.filename.count("/"), m.filename)):
            name = _bare_name(member)
            if not name:
                continue
            if (target / name).exists():
                notes.append(f"{name} comes twice in {path.name}; the outer one was taken")
                continue
            with archive.open(member) as stream:
                content = stream.read(min(MAX_FILE, left) + 1)  # whatever size the archive claims
            if len(content) > min(MAX_FILE, left):
                notes.append(f"{name} in {path.name} is too large and was left out")
                continue
            left -= len(content)
            (target / name).write_bytes(content)
    return notes


def _bare_name(member: zipfile.ZipInfo) -> str:
    """The name of a member that is wanted, without its folders; empty for any other."""
    path = PurePosixPath(writable(member.filename).replace("\\", "/"))
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
    wanted = path.suffix == ".ipynb" or path.name == TIMESTAMP
    fits = len(os.fsencode(path.name)) <= 200 and path.name.isprintable()
    return path.name if wanted and fits and not hidden and not member.is_dir() else ""
