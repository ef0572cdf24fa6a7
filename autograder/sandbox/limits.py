"""What a submission may use, and how a process of it may be lost."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of one submission. Bytes and seconds; memory is beyond the template's own."""

    memory: int = 1 << 30
    processes: int = 64
    file: int = 64 << 20
    descriptors: int = 256
    printed: int = 100_000
    reply: int = 32 << 20
    cell_seconds: float = 30.0
    notebook_seconds: float = 300.0

    def of_process(self) -> dict:
        """Those that a process sets on itself before student code runs."""
        return {k: v for k, v in asdict(self).items() if k in ("memory", "processes", "file", "descriptors")}


class SandboxUnavailable(RuntimeError):
    """The walls can't be built here; the text says what to do."""


class ProcessLost(Exception):
    """A process that died, ran out of time or broke the rules. `outcome` is one of OUTCOMES."""

    def __init__(self, outcome: str, text: str) -> None:
        super().__init__(text)
        self.outcome, self.text = outcome, text
