"""Figures of the instructor's report: inline images that are read by shape, number and position, not by color."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass

import matplotlib
from matplotlib.figure import Figure

from .analysis import OUTCOMES, Confusion, ItemNumbers

STYLE = {
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "autograder",  # the same bytes for the same numbers
    "hatch.linewidth": 0.6,
}
FILLS = {  # gray and hatch for each outcome
    "right": ("0.25", ""),
    "partly right": ("0.6", "////"),
    "wrong": ("0.98", "xxxx"),
    "not attempted": ("1.0", ""),
    "ended otherwise": ("0.85", "...."),
}


@dataclass(frozen=True)
class Picture:
    """A figure for a page. data: its data URI; alt: what it shows, for who can't see it."""

    data: str
    alt: str
    caption: str


def distribution(scores: list[float], points: float) -> Picture:
    """Histogram of scores, with a tick for each student."""
    figure, axes = _figure(6.8, 2.6)
    edges = [points * k / 10 for k in range(11)]
    top = max([points, *scores])
    if top > points:  # extra credit
        edges.append(top)
    counts, _, bars = axes.hist(scores, bins=edges, color="0.75", edgecolor="black")
    axes.bar_label(bars, [f"{int(n)}" if n else "" for n in counts])
    axes.plot(scores, [-0.04 * max(counts)] * len(scores), "|", color="black", markersize=7, clip_on=False)
    axes.set(xlabel=f"score, of {points:g} points", ylabel="students", xlim=(edges[0], edges[-1]))
    axes.set_ylim(-0.08 * max(counts), 1.15 * max(counts))
    axes.yaxis.get_major_locator().set_params(integer=True)
    told = [f"{int(n)} from {a:g} to {b:g}" for n, a, b in zip(counts, edges, edges[1:]) if n]
    return _picture(
        figure,
        f"Histogram of scores. Students by score: {'; '.join(told)}.",
        "How many students have a score in each tenth of the points; below, a tick for each student.",
    )


def outcomes(items: list[ItemNumbers]) -> Picture:
    """One bar an exercise, divided by outcome, with the mean share of its points."""
    figure, axes = _figure(6.8, 0.9 + 0.2 * len(items))
    rows = list(range(len(items)))
    left = [0.0] * len(items)
    for outcome in OUTCOMES:
        widths = [item.outcomes[outcome] for item in items]
        shade, hatch = FILLS[outcome]
        axes.barh(rows, widths, left=left, color=shade, hatch=hatch, edgecolor="black", linewidth=0.6, label=outcome)
        left = [a + b for a, b in zip(left, widths)]
    for row, item in zip(rows, items):
        axes.text(max(left) * 1.015, row, f"{item.share:.2f}", va="center")
    axes.text(max(left) * 1.015, -1.1, "mean share", va="center")
    axes.set_yticks(rows, [item.exercise for item in items])
    axes.invert_yaxis()
    axes.set(xlabel="students", xlim=(0, max(left)))
    axes.margins(y=0.01)
    axes.xaxis.get_major_locator().set_params(integer=True)
    above = (-0.02, 1 + 0.6 / len(items))
    axes.legend(loc="lower left", bbox_to_anchor=above, ncols=len(OUTCOMES), frameon=False, columnspacing=1.2)
    hardest = sorted(items, key=lambda item: item.share)[:3]
    told = ", ".join(f"{item.exercise} with {item.share:.2f}" for item in hardest)
    return _picture(
        figure,
        f"Bars of outcomes by exercise; the table below has the numbers. Lowest mean share of points: {told}.",
        "Outcomes of each exercise and, at the right, the mean share of its points: 1 is easy, 0 is hard.",
    )


def confusion(matrix: Confusion) -> Picture:
    """Counts with the share of each row as shade; the diagonal is framed."""
    rows, columns = len(matrix.true), len(matrix.said)
    figure, axes = _figure(1.9 + 0.75 * columns, 1.3 + 0.38 * rows)
    shares = [[number / max(1, sum(row)) for number in row] for row in matrix.counts]
    axes.imshow(shares, cmap="Greys", vmin=0, vmax=1.3, aspect="auto")
    for i, row in enumerate(matrix.counts):
        for j, number in enumerate(row):
            bold = "bold" if matrix.true[i] == matrix.said[j] else "normal"
            axes.text(j, i, f"{number}", ha="center", va="center", weight=bold,
                      color="white" if shares[i][j] > 0.65 else "black")  # fmt: skip
    axes.set_xticks(range(columns), matrix.said, rotation=25, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(rows), matrix.true)
    axes.set(xlabel="diagnosis given", ylabel="the run shows")
    told = [f"{true} taken for {said} in {n} of {total}" for true, said, n, total in matrix.mistakes[:3]]
    return _picture(
        figure,
        f"Confusion matrix of exercise {matrix.exercise}; commonest mistakes: {'; '.join(told) or 'none'}.",
        "Hidden runs of all students by what they show (rows) and by the diagnosis given (columns); "
        "right ones are bold, and darker is more of a row.",
    )


def seconds(by_notebook: dict[str, list[float]]) -> Picture:
    """Mean and longest time of each notebook."""
    figure, axes = _figure(6.8, 0.7 + 0.26 * len(by_notebook))
    rows = list(range(len(by_notebook)))
    means = [sum(times) / len(times) for times in by_notebook.values()]
    longest = [max(times) for times in by_notebook.values()]
    axes.barh(rows, means, color="0.75", edgecolor="black", linewidth=0.6, label="mean")
    axes.plot(longest, rows, "D", color="black", markersize=4, label="longest")
    axes.set_yticks(rows, list(by_notebook))
    axes.invert_yaxis()
    axes.set(xlabel="seconds a notebook")
    axes.legend(loc="lower right", frameon=False)
    told = ", ".join(f"{name} {mean:.1f} s" for name, mean in zip(by_notebook, means))
    return _picture(figure, f"Bars of mean seconds by notebook: {told}.", "Time to run and judge each notebook.")


def _figure(width: float, height: float) -> tuple[Figure, matplotlib.axes.Axes]:
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot()


def _picture(figure: Figure, alt: str, caption: str) -> Picture:
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return Picture("data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode(), alt, caption)
