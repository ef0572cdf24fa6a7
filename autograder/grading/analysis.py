"""What a class's marks say of the exercises, and of who needs a look: plain numbers, no pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .report import attention
from .results import UNDECIDED
from .standing import Class, Mark, Standing

OUTCOMES = ("right", "partly right", "wrong", "not attempted", "ended otherwise")
FEWEST = 3  # students below which a correlation says nothing


@dataclass(frozen=True)
class ItemNumbers:
    """An exercise in numbers. share: mean share of its points, so 1 is easy.

    discrimination: correlation of that share with the points earned elsewhere (the point-biserial one
        where marks are all or nothing); None where marks do not differ or the class is too small.
    outcomes: students by one of OUTCOMES.
    """

    exercise: str
    title: str
    points: float
    share: float
    discrimination: float | None
    outcomes: dict[str, int]


@dataclass(frozen=True)
class Confusion:
    """Who took what for what in one exercise. counts[i][j]: cases of class true[i] taken for said[j]."""

    exercise: str
    true: list[str]
    said: list[str]
    counts: list[list[int]]

    @property
    def mistakes(self) -> list[tuple[str, str, int, int]]:
        """(true, said, cases, of all cases of that class), the commonest first."""
        found = [
            (true, said, number, sum(row))
            for true, row in zip(self.true, self.counts)
            for said, number in zip(self.said, row)
            if number and said != true
        ]
        return sorted(found, key=lambda entry: -entry[2])


def item_numbers(group: Class) -> list[ItemNumbers]:
    """Every exercise in numbers, in the order of the session; none for an empty class."""
    students = group.handed_in
    if not students:
        return []
    marks = np.array([[_share(s.marks.get(i)) for i in group.places] for s in students])
    points = np.array([place.points for place in group.places.values()], dtype=float)
    totals = marks @ points
    return [
        ItemNumbers(
            exercise_id, group.titles.get(exercise_id, ""), float(points[column]), float(marks[:, column].mean()),
            correlation(marks[:, column], totals - marks[:, column] * points[column]),
            _outcomes(students, exercise_id),
        )
        for column, exercise_id in enumerate(group.places)
    ]  # fmt: skip


def correlation(item: np.ndarray, rest: np.ndarray) -> float | None:
    """Pearson's correlation of one item's shares with the points of the others; None where it is not defined."""
    if len(item) < FEWEST or np.ptp(item) < 1e-12 or np.ptp(rest) < 1e-12:
        return None
    return float(np.corrcoef(item, rest)[0, 1])


def _share(mark: Mark | None) -> float:
    return mark.score / mark.place.points if mark and mark.place.points else 0.0


def _outcomes(students: list[Standing], exercise_id: str) -> dict[str, int]:
    counts = Counter(outcome_of_mark(s.marks.get(exercise_id)) for s in students)
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def outcome_of_mark(mark: Mark | None) -> str:
    """How an exercise ended, as one of OUTCOMES."""
    outcome = mark.outcome if mark else "not attempted"
    return outcome if outcome in OUTCOMES else "ended otherwise"


def confusions(group: Class) -> list[Confusion]:
    """One matrix for each exercise whose answers are diagnoses, over all students who made any."""
    totals: dict[str, Counter] = {}
    for standing in group.handed_in:
        for exercise_id, rows in (standing.entry.decisions if standing.entry else {}).items():
            for true, row in rows.items():
                totals.setdefault(exercise_id, Counter()).update({(true, said): n for said, n in row.items()})
    found = []
    for exercise_id, counts in sorted(totals.items()):
        true = _healthy_last({t for t, _ in counts})
        said = _healthy_last({s for _, s in counts} | set(true))
        found.append(Confusion(exercise_id, true, said, [[counts[t, s] for s in said] for t in true]))
    return found


def _healthy_last(names: set[str]) -> list[str]:
    return sorted(names, key=lambda name: (name == UNDECIDED, name == "healthy", name))


def notebook_seconds(group: Class) -> dict[str, list[float]]:
    """Seconds that each student's notebook took to run and judge, by notebook."""
    found: dict[str, list[float]] = {}
    for standing in group.standings.values():
        for name, cells in (standing.result.timing if standing.result else {}).items():
            found.setdefault(name, []).append(sum(cells.values()))
    return dict(sorted(found.items()))


def needs_a_look(group: Class) -> list[tuple[Standing, list[str]]]:
    """Students somebody should look at, with the reasons in words; those with most reasons first."""
    found = [(standing, reasons(standing)) for standing in group.standings.values()]
    return sorted([pair for pair in found if pair[1]], key=lambda pair: (-len(pair[1]), pair[0].student))


def reasons(standing: Standing) -> list[str]:
    """Why somebody should look at a student's work."""
    if standing.result and standing.result.failed:
        return [f"not graded through no fault of the student: {', '.join(standing.result.failed)}; grade again"]
    if not standing.handed_in:
        return ["nothing was handed in"]
    said = attention(standing.result) if standing.result else ["graded, but not in the report: grade again"]
    marks = standing.marks.values()
    said += [f"{m.place.exercise}: a score set by hand stands over a new automatic one" for m in marks if m.review]
    fitted = [m.place.exercise for m in marks if m.item and _fits_the_shown_cases_alone(m)]
    if fitted:
        said.append(f"passes every case shown and fails most that are not: {', '.join(fitted)}")
    if standing.late > 0:
        said.append(f"{standing.late / 3600:.1f} hours late, {standing.penalty:g} points off")
    untouched = [m.place.exercise for m in marks if m.outcome == "not attempted"]
    if len(untouched) > len(marks) / 2:
        said.append(f"{len(untouched)} of {len(marks)} exercises not attempted")
    return said


def _fits_the_shown_cases_alone(mark: Mark) -> bool:
    shown = [case.verdict.passed for case in mark.item.cases if not case.hidden]
    hidden = [case.verdict.passed for case in mark.item.cases if case.hidden]
    return bool(shown) and all(shown) and sum(hidden) < len(hidden) / 2
