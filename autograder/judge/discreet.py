"""What a report says of a hidden case whose call failed.

A student's code sees a hidden case's inputs and writes the text of its own errors, so that text may
quote them. Of a hidden case the report gives the kind of the error and the student's own line, found
in the submission; the message is left out. Public cases show everything.
"""

from __future__ import annotations

import builtins
import re
from dataclasses import replace

from ..result import CaseResult

MAX_OBSERVED = 400
_FRAME = re.compile(r'^  File ".*", line \d+, in .*\n    (.+)$', re.MULTILINE)
_KIND = re.compile(r"^(?:torch\.)?(\w+)(?::|$)", re.MULTILINE)
_OURS = re.compile(  # sentences of the trusted side, which quote nothing
    r"no answer within [\d.e+-]+ s|what came back was not a message|the process sent something that is not an answer|"
    r"the process (is gone|ended before it answered|was ended by the system: out of memory)"
    r"( \((by signal|with exit code) \d+\))?|"
    r"not run: the notebook's (process died too often|time was used up by the cells above)"
)
_FIXED = {
    "not attempted": "the stub is as it came, or its name is not defined",
    "out of memory": "the call ran out of memory",
    "output too large": "more came back than is allowed",
}


def discreet(case: CaseResult, own_lines: set[str]) -> CaseResult:
    """A hidden case's result without texts that the student's code wrote at call time.

    own_lines: the lines of the submission's code cells, stripped.
    """
    verdict = case.verdict
    if case.hidden and case.outcome not in ("right", "wrong") and not _OURS.fullmatch(verdict.observed):
        verdict = replace(verdict, observed=_FIXED.get(case.outcome) or _error(verdict.observed, own_lines))
    if case.hidden and len(verdict.observed) > MAX_OBSERVED:
        verdict = replace(verdict, observed=verdict.observed[:MAX_OBSERVED] + " […]")
    return replace(case, verdict=verdict)


def _error(text: str, own_lines: set[str]) -> str:
    lines = [line.strip() for line in _FRAME.findall(text) if line.strip() in own_lines]
    kinds = [kind for kind in _KIND.findall(text) if _is_error(kind)]
    said = kinds[-1] if kinds else "an error"
    where = f" in your line\n    {lines[-1]}\n" if lines else " "
    return f"{said}{where}(a hidden case: its message is not shown)"


def _is_error(name: str) -> bool:
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)
