"""Session 19: finding out why training fails, with exercises whose marks can be believed."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (a folder on the path is not refused by pip)
    _here = "{}.{} ({})".format(*sys.version_info[:2], sys.executable)
    # a kernel shows the error below the cell; a command prints the sentence alone
    raise (ImportError if "ipykernel" in sys.modules else SystemExit)(
        "this course needs Python 3.11 or later, and this is " + _here + "; README.md says how to get its environment"
    )

from typing import Any

__all__ = ["check", "explore", "hint", "progress", "solution"]
__version__ = "0.1.0"
ASSIGNMENT = "s19-debugging"


def __getattr__(name: str) -> Any:
    """Load what notebooks call when it is asked for: the commands start without torch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import kernel, lesson
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(__name__):
            raise
        wanted = "run: make lab, or activate the course's environment (conda activate debugging-training)"
        raise ImportError(f"this course needs {error.name}, which {sys.executable} does not have; {wanted}") from None
    return getattr(kernel if name in ("check", "hint") else lesson, name)
