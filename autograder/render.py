"""How a result looks: HTML for Lab and feedback, text for a terminal, one table a check."""

from __future__ import annotations

from html import escape

from .result import CaseResult, ItemResult

STYLE = {
    "table": "border-collapse:collapse;margin:.4em 0;font-size:.92em",
    "cell": "text-align:left;vertical-align:top;padding:.25em .7em;border-bottom:1px solid #8884;white-space:pre-wrap",
}


class Report:
    """A check's result. In Jupyter a table; in plain text the points, which nbgrader reads.

    headed: whether the table has its headline; without it where a line above already says that.
    """

    def __init__(self, item: ItemResult, headed: bool = True) -> None:
        self.item, self.headed = item, headed

    def __repr__(self) -> str:
        return str(self.item.mark)

    def __float__(self) -> float:
        return self.item.mark

    def _repr_html_(self) -> str:
        return item_html(self.item, self.headed)


class Hints:
    """The first `shown` hints of an exercise."""

    def __init__(self, exercise: object, shown: int) -> None:
        self.exercise, self.shown = exercise, shown

    def _lines(self) -> list[str]:
        hints = self.exercise.hints[: self.shown]
        return [f"Hint {n} of {len(self.exercise.hints)}: {text}" for n, text in enumerate(hints, 1)]

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self._lines())


def headline(item: ItemResult) -> str:
    """One sentence: what passed, what it earns, and what remains to be judged."""
    passed = sum(case.verdict.passed for case in item.cases)
    text = f"{item.id} {item.title}: {passed} of {len(item.cases)} cases pass"
    if item.hidden:
        return f"{text}, {item.outcome}, {item.mark:g} of {item.points:g} points"
    return f"{text}; fresh hidden cases are drawn when it is graded ({item.points:g} points)"


def item_html(item: ItemResult, headed: bool = True) -> str:
    """A table: case, verdict, observed, expected, where to look; a headline above it where `headed`."""
    head = "".join(
        f'<th scope="col" style="{STYLE["cell"]}">{name}</th>'
        for name in ("Case", "Verdict", "Observed", "Expected", "Where to look")
    )
    rows = "".join(_row_html(case) for case in _shown(item))
    notes = [*item.notes, f"Verdict reached in {item.where}."] if item.hidden else item.notes
    foot = "".join(f"<p><small>{escape(note)}</small></p>" for note in notes)
    return (
        f'<div class="autograder-check">{_headline_html(item) if headed else ""}'
        f'<table style="{STYLE["table"]}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>{foot}</div>"
    )


def _headline_html(item: ItemResult) -> str:
    return f"<p><strong>{escape(headline(item))}</strong></p>"


def _shown(item: ItemResult) -> list[CaseResult]:
    """Failures first, so that a long table opens with what matters."""
    return sorted(item.cases, key=lambda case: case.verdict.passed)


def _row_html(case: CaseResult) -> str:
    verdict = case.verdict
    cells = [
        case.name,
        verdict_word(case),
        _brief(verdict.observed),
        _brief(verdict.expected),
        verdict.look,
    ]
    return "<tr>" + "".join(f'<td style="{STYLE["cell"]}">{escape(c)}</td>' for c in cells) + "</tr>"


def verdict_word(case: CaseResult) -> str:
    """The verdict in a word with a mark that does not rely on color; parts apart where scored so."""
    if case.verdict.parts:
        return "\n".join(f"{'✓' if ok else '✗'} {name}" for name, ok in case.verdict.parts.items())
    if case.verdict.passed:
        return "✓ pass"
    return f"✗ {case.outcome}"


def item_text(item: ItemResult) -> str:
    """The same for a terminal."""
    lines = [headline(item)]
    for case in _shown(item):
        lines.append(f"  {verdict_word(case).replace(chr(10), ' ')}  {case.name}: {_brief(case.verdict.observed)}")
        if case.verdict.look:
            lines.append(f"      look: {case.verdict.look}")
    return "\n".join(lines)


def _brief(text: str, limit: int = 1500) -> str:
    return text if len(text) <= limit else text[: limit // 2] + " […] " + text[-limit // 2 :]
