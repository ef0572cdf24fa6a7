"""Where student code runs: a warm process inside bubblewrap, forked for each submission.

`client` is the trusted side, `server` runs inside, `frames` is what they speak,
`bubblewrap` builds the walls. Nothing here knows an exercise.
"""

from .client import Limits, Process, ProcessLost, Sandbox, SandboxUnavailable

__all__ = ["Limits", "Process", "ProcessLost", "Sandbox", "SandboxUnavailable"]
