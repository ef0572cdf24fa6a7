"""Where the gradebook is: its URL, told without a password, and why it can't be opened."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

VARIABLE = "AUTOGRADER_GRADEBOOK_URL"  # nbgrader_config.py reads it, so that every command of nbgrader does too
EXAMPLE = "postgresql+psycopg://NAME@HOST/DATABASE"
ERRORS = (SQLAlchemyError, ImportError, UnicodeError)  # what opening a gradebook may raise


def db_url(config, root: Path) -> str:
    """The URL that a course's configuration names; a sqlite file in its folder where it names none."""
    return config.CourseDirectory.get("db_url", f"sqlite:///{root / 'gradebook.db'}")


def shown(url: str) -> str:
    """A URL as messages may quote it: no password, and none of the driver's settings."""
    parsed = _parsed(url)
    if parsed is None:
        return "whose URL can't be read"
    host = parsed.host and parsed.host.rpartition("@")[2]  # a raw @ leaves the end of a password there
    return parsed.set(query={}, host=host).render_as_string(hide_password=True)


def why_not(url: str, error: Exception) -> str:
    """One sentence on a gradebook that can't be opened, read or written: which, why, and what to do."""
    parsed = _parsed(url)
    if parsed is None:
        return f"the gradebook's URL in {VARIABLE} or nbgrader_config.py can't be read; one looks like {EXAMPLE}"
    if "@" in (parsed.host or ""):
        return f"the gradebook {shown(url)} has an @ in its password; write %40, or keep the password in ~/.pgpass"
    if isinstance(error, ImportError):
        package = "psycopg[binary]" if error.name == "psycopg" else error.name
        return f"the gradebook {shown(url)} needs the package {error.name}; run: pip install '{package}'"
    text = " ".join(str(getattr(error, "orig", None) or error).split())
    for word in filter(None, (parsed.password, parsed.query.get("password"))):
        text = text.replace(str(word), "***")
    if "locked" in text:
        return f"the gradebook {shown(url)} is locked by another program; close it and run the same command again"
    if any(words in text for words in ("is full", "disk I/O", "No space left")):
        return f"the gradebook {shown(url)} can't be written: no space is left; free some and run this again"
    return f"the gradebook {shown(url)} can't be opened: {text[:500]}"


def _parsed(url: str) -> URL | None:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        return None
