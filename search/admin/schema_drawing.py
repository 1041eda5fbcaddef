"""The schema of a source as a drawing: node types on an ellipse, relations as arrows between them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.language import reader

WIDTH, HEIGHT = 760, 440
MARGIN_X, MARGIN_Y = 110, 56
BOX_HEIGHT = 40
ONE_ROW = BOX_HEIGHT + 2 * MARGIN_Y
"""Height of the drawing of one node type or of two beside each other, with the arrows from each to itself."""
MOST_TYPES = 14
"""Node types that are drawn, the most frequent first; the table lists all."""
MOST_LABELS = 24
"""Arrows up to which each is labelled; more labels would cover one another."""
LONGEST_LABEL = 20
BEND = 26
"""Units by which an arrow bends to its side, so that two opposite arrows do not cover each other."""


@dataclass(frozen=True, slots=True)
class SchemaBox:
    """A node type: the middle of its box, the width, its name and count as text."""

    x: float
    y: float
    width: float
    name: str
    count: str

    @property
    def left(self) -> float:
        """The left side."""
        return round(self.x - self.width / 2, 1)

    @property
    def top(self) -> float:
        """The upper side."""
        return self.y - BOX_HEIGHT / 2


@dataclass(frozen=True, slots=True)
class SchemaArrow:
    """The relations from one type to another: the path, where its label stands, the label, and all of them in words."""

    path: str
    x: float
    y: float
    label: str
    title: str


@dataclass(frozen=True, slots=True)
class SchemaDrawing:
    """A drawing with its size; `left_out` is the number of node types that are only in the table."""

    boxes: list[SchemaBox]
    arrows: list[SchemaArrow]
    summary: str
    left_out: int
    width: int = WIDTH
    height: int = HEIGHT
    box_height: int = BOX_HEIGHT


def drawing_of(schema: Mapping[str, Any]) -> SchemaDrawing:
    """Return the drawing of a preview's schema (`node_types`, `relation_types` with counts)."""
    types = sorted(schema["node_types"], key=lambda entry: (-entry["count"], entry["name"]))
    boxes = {entry["name"]: _box(entry, at, min(len(types), MOST_TYPES)) for at, entry in enumerate(types[:MOST_TYPES])}
    pairs: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for entry in schema["relation_types"]:
        if entry["source"] in boxes and entry["target"] in boxes:
            pairs[entry["source"], entry["target"]].append(entry)
    labelled = len(pairs) <= MOST_LABELS
    arrows = [_arrow(boxes[source], boxes[target], found, labelled) for (source, target), found in pairs.items()]
    summary = f"{len(types)} types of entities and {len(schema['relation_types'])} relations between them"
    return SchemaDrawing(
        list(boxes.values()), arrows, summary, max(0, len(types) - MOST_TYPES), height=_height(len(types))
    )


def _height(types: int) -> int:
    return ONE_ROW if types <= 2 else HEIGHT


def _box(entry: Mapping[str, Any], at: int, number: int) -> SchemaBox:
    name, count = _short(entry["name"]), reader.number(entry["count"])
    width = max(64.0, 8.2 * max(len(name), len(count)) + 22)
    if number == 1:
        return SchemaBox(WIDTH / 2, ONE_ROW / 2, width, name, count)
    # The first stands on the left of two, and at the top of more.
    angle = 2 * math.pi * at / number - (math.pi if number == 2 else math.pi / 2)
    x = WIDTH / 2 + (WIDTH / 2 - MARGIN_X) * math.cos(angle)
    height = _height(number)
    y = height / 2 + (height / 2 - MARGIN_Y) * math.sin(angle)
    return SchemaBox(round(x, 1), round(y, 1), round(width, 1), name, count)


def _arrow(source: SchemaBox, target: SchemaBox, found: list[Mapping[str, Any]], labelled: bool) -> SchemaArrow:
    found = sorted(found, key=lambda entry: -entry["count"])
    title = "; ".join(f"{source.name} {entry['relation']} {target.name}: {entry['count']:,}" for entry in found)
    more = f" +{len(found) - 1}" if len(found) > 1 else ""
    label = _short(found[0]["relation"]) + more if labelled else ""
    if source is target:
        x, y = source.x, source.y - BOX_HEIGHT / 2
        loop = f"M {x - 16:.1f} {y:.1f} C {x - 34:.1f} {y - 34:.1f}, {x + 34:.1f} {y - 34:.1f}, {x + 16:.1f} {y:.1f}"
        return SchemaArrow(loop, x, round(y - 30, 1), label, title)
    x, y = target.x - source.x, target.y - source.y
    length = math.hypot(x, y) or 1.0
    bend_x, bend_y = -y / length * BEND, x / length * BEND
    middle = ((source.x + target.x) / 2 + bend_x, (source.y + target.y) / 2 + bend_y)
    begin, end = _edge_of(source, *middle), _edge_of(target, *middle)
    path = f"M {begin[0]:.1f} {begin[1]:.1f} Q {middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    at_x = 0.25 * begin[0] + 0.5 * middle[0] + 0.25 * end[0]
    at_y = 0.25 * begin[1] + 0.5 * middle[1] + 0.25 * end[1]
    return SchemaArrow(path, round(at_x, 1), round(at_y, 1), label, title)


def _edge_of(box: SchemaBox, x: float, y: float) -> tuple[float, float]:
    """Return where the line from the middle of a box towards a point leaves the box."""
    across, up = x - box.x, y - box.y
    scale = min(
        (box.width / 2 + 3) / abs(across) if across else math.inf,
        (BOX_HEIGHT / 2 + 3) / abs(up) if up else math.inf,
    )
    return box.x + across * scale, box.y + up * scale


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
