"""Where student code runs: a warm process inside bubblewrap, forked for each submission.

`client` is the trusted side, `server` runs inside, `frames` is what they speak,
`bubblewrap` builds the walls, `limits` says what is allowed. Nothing here knows an exercise.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Limits": "limits",
    "ProcessLost": "limits",
    "SandboxUnavailable": "limits",
    "Process": "client",
    "Sandbox": "client",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Load the client, and torch with it, only where processes are started."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
