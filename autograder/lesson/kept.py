"""Progress through the course, kept in one small file on the student's machine."""

from __future__ import annotations

import json
import os
import tempfile
from functools import cache
from pathlib import Path

PLACE = "AUTOGRADER_PROGRESS"  # a folder for the file, or "off"
FILE = "progress.json"
STATES = ("begun", "passed")


class Kept:
    """State of each exercise by id: "passed" where its visible check passed in full, or "begun".

    folder: where the file lies; None keeps the state in this process alone.
    note: one sentence, where something hinders the keeping.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder, self.note = folder, ""
        self.unwritten: dict[str, str] = {}  # what no file holds

    @staticmethod
    @cache
    def here() -> Kept:
        """The file of this user, or the one that AUTOGRADER_PROGRESS asks for."""
        place = os.environ.get(PLACE, "")
        if place == "off":
            return Kept(None)
        if place:
            return Kept(Path(place))
        from platformdirs import user_data_path

        return Kept(user_data_path("debugging-training", appauthor=False))

    def states(self) -> dict[str, str]:
        """ "passed" or "begun" by exercise; those that have neither are left out."""
        if self.folder is None:
            return dict(self.unwritten)
        try:
            stored = json.loads((self.folder / FILE).read_text(encoding="utf-8"))
            return {k: v for k, v in stored.items() if v in STATES} | self.unwritten
        except (FileNotFoundError, NotADirectoryError):
            pass
        except (OSError, ValueError, AttributeError, TypeError):
            self.note = f"{self.folder / FILE} can't be read; what it held is not shown."
        return dict(self.unwritten)

    def keep(self, exercise_id: str, state: str) -> None:
        """Note the state of an exercise; what passed once stays passed."""
        states = self.states()
        if states.get(exercise_id) in (state, "passed"):
            return
        states[exercise_id] = state
        self.unwritten = {} if self._written(states) else states

    def forget(self) -> str:
        """Remove the file. Returns: a sentence that says what was done."""
        self.unwritten, self.note = {}, ""
        if self.folder is None:
            return "Nothing is kept beyond this kernel; that is forgotten."
        try:
            (self.folder / FILE).unlink(missing_ok=True)
        except OSError as error:
            return f"{self.folder / FILE} can't be removed ({error.strerror})."
        return f"{self.folder / FILE} is removed; nothing is kept."

    def _written(self, states: dict[str, str]) -> bool:
        if self.folder is None:
            return False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False, encoding="utf-8") as file:
                json.dump(states, file, indent=1)
            os.replace(file.name, self.folder / FILE)
        except OSError as error:
            self.note = (
                f"Progress can't be kept in {self.folder} ({error.strerror}), so it lasts as long as this kernel; "
                f"set {PLACE} to a folder that you may write to."
            )
            return False
        self.note = ""
        return True
