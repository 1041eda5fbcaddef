"""Charts of the admin's first page as SVG: bars of searches by day, lines of quality; each has a table of its numbers.

The geometry is computed here, so that the page needs no script and no style attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from search.services.searches.count_searches import SearchDay

WIDTH, HEIGHT = 640, 200
LEFT, RIGHT, ABOVE, BELOW = 48, 12, 12, 24
FLOOR = HEIGHT - BELOW
MOST_CHARTS = 6
MOST_LINES = 5
"""Pipelines of one chart; each has a colour and a dash pattern of its own."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at an axis: its place in the drawing, and its text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of a day's bar: its place and size, and whether it is of failures."""

    x: float
    y: float
    width: float
    height: float
    failed: bool


@dataclass(frozen=True, slots=True)
class BarChart:
    """Searches by day: bars from the left, the marks of both axes, and a sentence that says the same."""

    bars: tuple[Bar, ...]
    across: tuple[Mark, ...]
    up: tuple[Mark, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One pipeline's line: its number in the chart, its points as SVG has them, their places, and the last value."""

    number: int
    name: str
    points: str
    dots: tuple[tuple[float, float], ...]
    last: str


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """One evaluation in the table of a chart: its id, its time, and a value or None for each column."""

    evaluation: str
    at: datetime
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class QualityChart:
    """The quality over time of some pipelines on one question set, and its table, the newest evaluation first.

    `columns` are the labels of the table's columns, such as `grasp@2`: the table tells versions apart.
    """

    title: str
    lines: tuple[ChartLine, ...]
    across: tuple[Mark, ...]
    up: tuple[Mark, ...]
    columns: tuple[str, ...]
    rows: tuple[EvaluationRow, ...]
    summary: str


def search_bars(days: Sequence[SearchDay]) -> BarChart:
    """Return the chart of searches by day: failures above all other searches."""
    most = _rounded_up(max(day.total for day in days))
    room = (WIDTH - LEFT - RIGHT) / len(days)
    bars = []
    for place, day in enumerate(days):
        x, width = round(LEFT + place * room + room * 0.15, 1), round(room * 0.7, 1)
        floor = float(FLOOR)
        for number, failed in ((day.total - day.failed, False), (day.failed, True)):
            if number:
                height = round(number / most * (FLOOR - ABOVE), 1)
                floor = round(floor - height, 1)
                bars.append(Bar(x, floor, width, height, failed))
    places = dict.fromkeys((0, len(days) // 2, len(days) - 1))
    total, failed_total = sum(day.total for day in days), sum(day.failed for day in days)
    return BarChart(
        tuple(bars),
        tuple(Mark(round(LEFT + (place + 0.5) * room, 1), f"{days[place].day:%-d %b}") for place in places),
        tuple(Mark(_up(value, 0, most), f"{value:,.0f}") for value in (0, most // 2, most)),
        f"{total:,} searches in {len(days)} days, {failed_total:,} of them failed.",
    )


def quality_charts(rows: Iterable[Mapping[str, Any]]) -> list[QualityChart]:
    """Return a chart for each question set of each knowledge base, those first that were evaluated last.

    Evaluations of another split, or of another number of questions, are no comparison, so they have charts of their
    own. `rows` are those of the function that `GRASP_QUALITY` names.
    """
    grouped: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        key = (row["knowledge_base"], row["question_set"], row["split"], row["questions"])
        grouped.setdefault(key, []).append(row)
    newest = sorted(grouped.items(), key=lambda group: group[1][-1]["at"], reverse=True)
    return [_quality(key, group) for key, group in newest[:MOST_CHARTS]]


def _quality(key: tuple[Any, ...], rows: Sequence[Mapping[str, Any]]) -> QualityChart:
    base, questions, split, number = key
    series: dict[str, list[tuple[datetime, float]]] = {}
    for row in rows:
        series.setdefault(pipeline_of(row["pipeline"]), []).append((row["at"], row["value"]))
    first, last = rows[0]["at"], rows[-1]["at"]
    values = [row["value"] for row in rows]
    low, high = max(0.0, _step_down(min(values))), min(100.0, _step_down(max(values)) + 5)
    best = sorted(series.items(), key=lambda each: -each[1][-1][1])[:MOST_LINES]
    lines = tuple(_line(place, name, points, (first, last), (low, high)) for place, (name, points) in enumerate(best))
    title = " · ".join(part for part in (base, questions or "deleted question set", split) if part)
    told = ", ".join(f"{line.name} {line.last}" for line in lines)
    across = {_across(at, first, last): f"{at:%-d %b %Y}" for at in (first, last)}
    return QualityChart(
        f"{title} · {number:,} questions",
        lines,
        tuple(Mark(at, text) for at, text in across.items()),
        tuple(Mark(_up(value, low, high), f"{value:.0f}") for value in (low, (low + high) / 2, high)),
        tuple(columns := list(dict.fromkeys(sorted(row["pipeline"] for row in rows)))),
        _table(rows, columns),
        f"{rows[0]['measure']} of {title} over {len({row['evaluation'] for row in rows})} evaluations; last: {told}.",
    )


def _table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> tuple[EvaluationRow, ...]:
    values: dict[tuple[str, datetime], dict[str, float]] = {}
    for row in rows:
        values.setdefault((row["evaluation"], row["at"]), {})[row["pipeline"]] = row["value"]
    return tuple(
        EvaluationRow(evaluation, at, tuple(found.get(column) for column in columns))
        for (evaluation, at), found in reversed(values.items())
    )


def pipeline_of(label: str) -> str:
    """Return the pipeline of a label without its version, `grasp` of `grasp@2 fuse.k=5`: versions are one line."""
    return label.split("@", 1)[0].split(" ", 1)[0]


def _line(
    number: int, name: str, points: Sequence[tuple[datetime, float]], times: tuple[datetime, datetime],
    bounds: tuple[float, float],
) -> ChartLine:  # fmt: skip
    placed = tuple((_across(at, *times), _up(value, *bounds)) for at, value in points)
    return ChartLine(number, name, " ".join(f"{x:.1f},{y:.1f}" for x, y in placed), placed, f"{points[-1][1]:.1f}")


def _across(at: datetime, first: datetime, last: datetime) -> float:
    span = (last - first).total_seconds()
    share = (at - first).total_seconds() / span if span else 0.5
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _up(value: float, low: float, high: float) -> float:
    return round(ABOVE + (high - value) / (high - low) * (FLOOR - ABOVE), 1)


def _rounded_up(number: int) -> int:
    """Return the next larger even number of the form 2, 4, 6, 10, 20 … with zeros: half of it is whole."""
    size = 1
    while True:
        for digit in (2, 4, 6, 10):
            if digit * size >= number:
                return digit * size
        size *= 10


def _step_down(value: float) -> float:
    return 5 * (value // 5)
