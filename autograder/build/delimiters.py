"""Delimiters of solutions and hidden tests: what looks like one must be one, and pairs must close.

Stock nbgrader looks for the exact words and ships everything else, answers included,
without a word. So near misses are refused here.
"""

from __future__ import annotations

import difflib
import re
from typing import Iterator

EXACT = {
    "### BEGIN SOLUTION": ("begin", "solution"),
    "### END SOLUTION": ("end", "solution"),
    "### BEGIN HIDDEN TESTS": ("begin", "hidden tests"),
    "### END HIDDEN TESTS": ("end", "hidden tests"),
}
# Words that nbgrader acts on and this course does not use.
FOREIGN = ("AUTOTEST", "HASHED AUTOTEST", "BEGIN MARK SCHEME", "END MARK SCHEME")
_LETTERS = {re.sub("[^A-Z]", "", text): text for text in EXACT}
_KEYWORDS = ("SOLUTION", "SOLUTIONS", "HIDDEN")
_WORDS = r"\b(BEGIN|END)[\W_]*(SOLUTION|HIDDEN[\W_]*TEST)"
NEAR = 0.78  # of difflib's ratio: a few letters dropped, doubled or swapped


def faults(source: str, code: bool = True) -> Iterator[tuple[int, str]]:
    """Line number and complaint for each delimiter that is misspelt, unpaired or nested.

    code: False for markdown, where headings begin with # too.
    """
    open_kind, opened = None, 0
    for number, line in enumerate(source.split("\n"), 1):
        exact = EXACT.get(line.strip())
        if exact is None:
            complaint = lookalike(line, code)
            if complaint:
                yield number, complaint
            continue
        edge, kind = exact
        if edge == "begin":
            if open_kind:
                yield number, f"{line.strip()!r} opens inside the {open_kind} block opened in line {opened}"
            open_kind, opened = kind, number
        elif open_kind != kind:
            yield number, f"{line.strip()!r} closes a {kind} block that is not open"
            open_kind = None
        else:
            open_kind = None
    if open_kind:
        yield opened, f"the {open_kind} block opened here never ends"


def lookalike(line: str, code: bool = True) -> str:
    """What is wrong with a line that resembles a delimiter but is none; empty for other lines."""
    text = line.strip()
    if "#" in text and any(word in text.upper() for word in FOREIGN):
        return f"{text!r} means something to nbgrader that this course does not use"
    near = _nearest(text, code)
    if near:
        return f"{text!r} looks like a delimiter; write {near!r} alone on its line, or reword it"
    return ""


def _nearest(text: str, code: bool) -> str:
    """The delimiter that a line resembles, or an empty string."""
    found = re.search(_WORDS, text, re.IGNORECASE if "#" in text else 0)
    if found:
        return _closest(re.sub("[^A-Z]", "", found[0].upper()))
    if not text.startswith("#"):
        return ""
    words = re.findall("[A-Z]+", text.upper())
    close = difflib.get_close_matches("".join(words), _LETTERS, n=1, cutoff=NEAR)
    if close:
        return _LETTERS[close[0]]
    if code and text.startswith("###") and len(words) <= 4 and any(map(_is_keyword, words)):
        return _closest("".join(words))
    return ""


def _closest(letters: str) -> str:
    return _LETTERS[difflib.get_close_matches(letters, _LETTERS, n=1, cutoff=0.0)[0]]


def _is_keyword(word: str) -> bool:
    return bool(difflib.get_close_matches(word, _KEYWORDS, n=1, cutoff=0.8))


def regions(source: str, kind: str) -> list[list[str]]:
    """Lines of each block of a kind, "solution" or "hidden tests", without its delimiters."""
    blocks: list[list[str]] = []
    inside = False
    for line in source.split("\n"):
        edge, found = EXACT.get(line.strip(), ("", ""))
        if found == kind:
            inside = edge == "begin"
            if inside:
                blocks.append([])
        elif inside:
            blocks[-1].append(line)
    return blocks


def outside(source: str) -> list[str]:
    """Lines of a cell that lie in no block: what its author shows to students."""
    lines, inside = [], False
    for line in source.split("\n"):
        edge, _ = EXACT.get(line.strip(), ("", ""))
        if edge:
            inside = edge == "begin"
        elif not inside:
            lines.append(line)
    return lines
