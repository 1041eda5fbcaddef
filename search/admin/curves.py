"""Curves of metric series as SVG, with the geometry computed here and a table of the same numbers beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 200
"""Size of the drawing, in its own units; the page scales it."""
LEFT, BELOW, ABOVE, RIGHT = 56, 24, 12, 12
"""Margins around the curve, for the numbers at the axes."""
ROWS = 12
"""Most rows of the table; longer series are thinned evenly, and the last point is always shown."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark at an axis: its place in the drawing, and its number as text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """One series: the points of its line, the place of its last point, the marks at both axes, and rows of a table."""

    name: str
    points: str
    last: tuple[float, float]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    rows: tuple[tuple[int, str], ...]
    summary: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    floor: int = HEIGHT - BELOW


def curves(series: Mapping[str, Sequence[tuple[int, float]]]) -> list[Curve]:
    """Return a curve for each series of `(step, value)`, in the order of the steps; empty series are left out."""
    return [_curve(name, sorted(points)) for name, points in series.items() if points]


def _curve(name: str, points: Sequence[tuple[int, float]]) -> Curve:
    steps, values = [step for step, _ in points], [value for _, value in points]
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 0.5, high + 0.5
    placed = [(_across(step, steps[0], steps[-1]), _up(value, low, high)) for step, value in points]
    best = f"lowest {number(min(values))}, highest {number(max(values))}, last {number(values[-1])}"
    return Curve(
        name=name,
        points=" ".join(f"{x:.1f},{y:.1f}" for x, y in placed),
        last=placed[-1],
        across=tuple(Tick(_across(step, steps[0], steps[-1]), f"{step:,}") for step in dict.fromkeys(
            (steps[0], steps[len(steps) // 2], steps[-1]))),
        up=tuple(Tick(_up(value, low, high), number(value)) for value in (low, (low + high) / 2, high)),
        rows=tuple((step, number(value)) for step, value in thinned(points, ROWS)),
        summary=f"{name}: {len(points):,} points, {best}.",
    )  # fmt: skip


def thinned(points: Sequence[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """Return at most `most` points, evenly spaced, with the first and the last."""
    if len(points) <= most:
        return list(points)
    places = [round(place * (len(points) - 1) / (most - 1)) for place in range(most)]
    return [points[place] for place in places]


def number(value: float) -> str:
    """Return a number with four significant digits."""
    return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def _across(step: int, first: int, last: int) -> float:
    span = max(1, last - first)
    return round(LEFT + (step - first) / span * (WIDTH - LEFT - RIGHT), 1)


def _up(value: float, low: float, high: float) -> float:
    return round(ABOVE + (high - value) / (high - low) * (HEIGHT - ABOVE - BELOW), 1)
