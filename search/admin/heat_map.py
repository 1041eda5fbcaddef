"""Heat maps of a tuning's surfaces as SVG, each with a table of the same numbers: H@1 over k and the weight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

LEFT, ABOVE, BELOW = 52, 8, 40
WIDTH = 640
ROW = 24
SHADES = 5
"""Classes of colour, from the lowest to the highest value; the numbers stand in the table."""
TITLES = {
    "static": "Static: the same weight for every question",
    "dynamic": "Dynamic: the weight of the graph where it found 1 to 10 possible answers, everything else at its best",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its place and size, its shade from 1 to SHADES, a sentence about it, and its mark, if it has one."""

    x: float
    y: float
    width: float
    height: float
    shade: int
    text: str
    mark: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A surface: its cells, the numbers at its axes, and the rows of its table."""

    title: str
    summary: str
    cells: tuple[Cell, ...]
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    width: int
    height: int
    floor: int
    left: int = LEFT


def heat_maps(surfaces: Sequence[Mapping[str, Any]]) -> list[HeatMap]:
    """Return a heat map for each surface of a tuning's report (`training.evaluation.tuning_surface`)."""
    return [_heat_map(surface) for surface in surfaces if surface.get("H@1") and surface["H@1"][0]]


def heat_maps_shown(surfaces: Sequence[Mapping[str, Any]]) -> SafeString:
    """Return the heat maps of surfaces as HTML; an empty string if there are none."""
    maps = heat_maps(surfaces)
    return render_to_string("admin/search/_heat_maps.html", {"maps": maps}) if maps else mark_safe("")


def surfaces_of(result: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """Return the surfaces in a job's result: of a tuning, or of the tunings of a training of everything."""
    return list(_surfaces(result or {}))


def _surfaces(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for part in (result, *(one for one in result.get("parts") or () if isinstance(one, Mapping))):
        named = f"{part['part']}: " if "part" in part and "surfaces" in part and part is not result else ""
        for surface in part.get("surfaces") or ():
            yield {**surface, "named": named}


def _heat_map(surface: Mapping[str, Any]) -> HeatMap:
    values: list[list[float]] = surface["H@1"]
    weights, ks = surface["weight"], surface["k"]
    low, high = min(map(min, values)), max(map(max, values))
    room = (WIDTH - LEFT) / len(weights)
    marks = {tuple(surface["chosen"] or ()): "best", tuple(surface["in_use"] or ()): "in use"}
    if surface["chosen"] is not None and surface["chosen"] == surface["in_use"]:
        marks[tuple(surface["chosen"])] = "best and in use"
    cells = tuple(
        Cell(
            round(LEFT + column * room, 1), ABOVE + row * ROW, round(room, 1), ROW, _shade(value, low, high),
            f"k {ks[row]:g}, weight {weights[column]:g}: H@1 {value:.1f}", marks.get((row, column), ""),
        )
        for row, line in enumerate(values) for column, value in enumerate(line)
    )  # fmt: skip
    floor = ABOVE + len(ks) * ROW
    title = f"{surface.get('named', '')}{TITLES.get(surface['method'], surface['method'])}"
    every = max(1, len(weights) // 10)
    return HeatMap(
        title,
        f"{title}. H@1 over k and the weight, from {low:.1f} to {high:.1f}; the table has the numbers.",
        cells,
        tuple((round(LEFT + (at + 0.5) * room, 1), f"{one:g}") for at, one in enumerate(weights) if at % every == 0),
        tuple((ABOVE + (at + 0.5) * ROW + 4, f"{one:g}") for at, one in enumerate(ks)),
        tuple(f"{one:g}" for one in weights),
        tuple((f"{ks[at]:g}", tuple(f"{one:.1f}" for one in line)) for at, line in enumerate(values)),
        WIDTH, floor + BELOW, floor,
    )  # fmt: skip


def _shade(value: float, low: float, high: float) -> int:
    return 1 + min(SHADES - 1, int(SHADES * (value - low) / (high - low))) if high > low else SHADES
