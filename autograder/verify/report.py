"""What verify found: counts, and a table of what is off."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Report:
    """Counts over the exercises; equivalent mutants are not counted."""

    exercises: int = 0
    stubs_failing: int = 0
    right_accepted: int = 0
    right_total: int = 0
    wrong_refused: int = 0
    wrong_total: int = 0
    mutants_killed: int = 0
    mutants_total: int = 0
    found: list[tuple[str, str, str]] = field(default_factory=list)

    def off(self, exercise: str, what: str, where: str = "") -> None:
        """Note one thing that is not as it must be."""
        self.found.append((exercise, what, where))

    def good(self) -> bool:
        """Whether nothing is off, and something was verified at all."""
        return not self.found and self.exercises > 0

    def counts(self) -> dict[str, int]:
        """The numbers by name, as the last line prints them."""
        return {name: value for name, value in vars(self).items() if isinstance(value, int)}

    def table(self) -> str:
        """What is off, one line each, in columns; one sentence where nothing is."""
        if not self.found:
            return "nothing is off" if self.exercises else "there is no exercise to verify"
        wide = max(len(what) for _, what, _ in self.found)
        head = f"{'exercise':9} {'what is off':{wide}}  where"
        return "\n".join([head, *(f"{e:9} {what:{wide}}  {where}".rstrip() for e, what, where in self.found)])
