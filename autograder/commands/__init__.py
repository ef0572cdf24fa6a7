"""The commands, one module each: HELP in a line, EXAMPLE, NEEDS of packages, IN_COURSE, `add` and `run`.

Nothing but the standard library is imported at a module's top: the tour is instant.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

TOUR = (
    ("Students, in the folder with the notebooks", ("doctor", "submit")),
    ("Instructors, in this order", ("doctor", "build", "release", "grade", "feedback", "report", "export")),
    ("Contributors", ("build", "verify")),
)


def installed() -> dict[str, ModuleType]:
    """The commands that are here, by name; what students get has only theirs."""
    names = dict.fromkeys(name for _, group in TOUR for name in group)
    return {
        name: importlib.import_module(f"{__name__}.{name}")
        for name in names
        if importlib.util.find_spec(f"{__name__}.{name}")
    }
