"""Paths of the graph as a drawing from left to right: the nodes between hops form its columns.

On a page narrower than the drawing, the same boxes are stacked one below the other.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.plan_words import Relations, relation_words
from search.sentences.paths import path_words
from search.sentences.values import type_words

Json = Mapping[str, Any]

BOX_HEIGHT = 48.0
ROW = 84.0
MARGIN = 2.0
NAME_WIDTH = 7.7
LABEL_WIDTH = 6.9
WIDE, CAPITAL = 2.1, 1.35
"""Widths of an ideograph or emoji and of a capital letter, in widths of a usual small letter."""
MOST_NAME_CHARACTERS = 30
CURVE = 34.0
PIXELS_PER_REM = 16.0
ROOMS = (20, 26, 32, 38, 44, 50, 56)
"""Page widths in the style sheet, in rem. A drawing is shown from left to right from the first width that holds it."""


class DrawnBox:
    """Where the lines and texts of a box stand; `x` and `y` are its upper left corner."""

    __slots__ = ()
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The y coordinate at which lines meet the box."""
        return self.y + self.height / 2

    @property
    def right(self) -> float:
        """The x coordinate of the right side of the box."""
        return self.x + self.width

    @property
    def text_x(self) -> float:
        """The x coordinate at which the text begins."""
        return self.x + 12

    @property
    def type_y(self) -> float:
        """The base line of its type."""
        return self.y + 18

    @property
    def name_y(self) -> float:
        """The base line of its name."""
        return self.y + 36


@dataclass(frozen=True, slots=True)
class NodeBox(DrawnBox):
    """A node: its position in the drawing, and its texts."""

    x: float
    y: float
    width: float
    kind: str
    id: str
    type: str
    name: str
    full_name: str
    var: str
    height: float = BOX_HEIGHT

    @property
    def var_x(self) -> float:
        """The x coordinate at which the variable ends."""
        return self.right - 12


@dataclass(frozen=True, slots=True)
class Line:
    """An edge: the curve, the arrow's head, and the relation's name above it."""

    curve: str
    head: str
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class Stop:
    """A box of a stack: a node, and the relation that leads on from it, with the direction in which it is stored."""

    kind: str
    id: str
    type: str
    name: str
    var: str
    relation: str
    direction: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """Boxes and lines within width × height, the same paths as stacks of boxes, and a summary in words.

    `room` is the smallest page width that holds the drawing, in rem, or 0 if it needs more than every width in `ROOMS`.
    Each of `stacks` is a path. A target that all paths share is only in `shared`, which stands below the stacks.
    """

    width: float
    height: float
    boxes: tuple[NodeBox, ...]
    lines: tuple[Line, ...]
    summary: str
    room: int
    stacks: tuple[tuple[Stop, ...], ...]
    shared: Stop | None


def draw(paths: Sequence[Sequence[Json]], relations: Relations) -> Drawing | None:
    """Return the drawing of the paths, one row each, or None if there is no path.

    All paths end in the last column. A target that they share is drawn once. `relations` are those of the schema, for
    their wordings.
    """
    rows = [path for path in paths if path]
    if not rows:
        return None
    columns = max(len(path[0::2]) for path in rows)
    shared = len({path[-1]["node"]["id"] for path in rows}) == 1
    starts, widths = _columns(rows, columns, relations)
    boxes: list[NodeBox] = []
    lines: list[Line] = []
    target = _target(rows, starts, widths) if shared else None
    for row, path in enumerate(rows):
        placed = _row(path, row, columns, starts, target)
        boxes += placed[:-1] if shared else placed
        lines += [
            _line(edge, _said(edge, relations), a, b)
            for edge, a, b in zip(path[1::2], placed, placed[1:], strict=False)
        ]
    boxes += [target] if target else []
    width = round(starts[-1] + widths[-1] + MARGIN, 1)
    return Drawing(
        width=width,
        height=(len(rows) - 1) * ROW + BOX_HEIGHT + 2 * MARGIN,
        boxes=tuple(boxes),
        lines=tuple(lines),
        summary="; ".join(path_words(path, relations) for path in rows),
        room=next((room for room in ROOMS if width <= room * PIXELS_PER_REM), 0),
        stacks=tuple(_stack(path[:-1] if shared else path, relations) for path in rows),
        shared=_stack(_named_target(rows), relations)[0] if shared else None,
    )


def _stack(path: Sequence[Json], relations: Relations) -> tuple[Stop, ...]:
    """Return the nodes of a path, each with the relation that follows it."""
    stops = []
    for at in range(0, len(path), 2):
        node, var = path[at]["node"], path[at].get("var", "")
        follows = path[at + 1] if at + 1 < len(path) else {"relation": "", "direction": ""}
        relation = _said(follows, relations) if follows["relation"] else ""
        kind = ("between" if at else "anchor") if relation else "target"
        words = (type_words(node["type"]), node["name"], var)
        stops.append(Stop(kind, node["id"], *words, relation, follows["direction"]))
    return tuple(stops)


def _named_target(rows: Sequence[Sequence[Json]]) -> list[Json]:
    """Return the target that all paths share, from a path that says which variable of the plan it is, if one does."""
    return [max((path[-1] for path in rows), key=lambda last: len(last.get("var", "")))]


def _columns(rows: Sequence[Sequence[Json]], columns: int, relations: Relations) -> tuple[list[float], list[float]]:
    """Return where each column begins and how wide its widest box is; the gaps hold their longest relation."""
    widths = [0.0] * columns
    gaps = [0.0] * columns
    for path in rows:
        offset = columns - len(path[0::2])
        for at, item in enumerate(path[0::2], offset):
            widths[at] = max(widths[at], _width(item))
        for at, edge in enumerate(path[1::2], offset):
            gaps[at] = max(gaps[at], breadth(_said(edge, relations)) * LABEL_WIDTH + 18 + CURVE)
    starts = [MARGIN]
    for width, gap in zip(widths, gaps, strict=True):
        starts.append(starts[-1] + width + gap)
    return starts[:-1], widths


def _width(item: Json) -> float:
    name = breadth(_shortened(item["node"]["name"])) * NAME_WIDTH
    head = (breadth(type_words(item["node"]["type"])) + len(item.get("var", "")) + 2) * LABEL_WIDTH
    return max(name, head, 60.0) + 24


def breadth(text: str) -> float:
    """Return the largest likely width of a text, in widths of a usual small letter."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    capital = sum(letter.isupper() or letter in "mw@%" for letter in text)
    marks = sum(unicodedata.combining(letter) > 0 for letter in text)
    return len(text) - marks + wide * (WIDE - 1) + capital * (CAPITAL - 1)


def _shortened(name: str) -> str:
    return name if len(name) <= MOST_NAME_CHARACTERS else name[: MOST_NAME_CHARACTERS - 1].rstrip() + "…"


def _box(item: Json, x: float, y: float, kind: str) -> NodeBox:
    node = item["node"]
    return NodeBox(x, y, _width(item), kind, node["id"], type_words(node["type"]), _shortened(node["name"]),
               node["name"], item.get("var", ""))  # fmt: skip


def _target(rows: Sequence[Sequence[Json]], starts: Sequence[float], widths: Sequence[float]) -> NodeBox:
    """Return the box of the shared target, halfway between the first row and the last."""
    [item] = _named_target(rows)
    return _box(item, starts[-1], MARGIN + (len(rows) - 1) * ROW / 2, "target")


def _row(
    path: Sequence[Json], row: int, columns: int, starts: Sequence[float], target: NodeBox | None
) -> list[NodeBox]:
    items = path[0::2]
    offset = columns - len(items)
    y = MARGIN + row * ROW
    kinds = ["anchor", *["between"] * (len(items) - 2), "target"] if len(items) > 1 else ["target"]
    placed = [_box(item, starts[offset + at], y, kinds[at]) for at, item in enumerate(items)]
    return [*placed[:-1], target] if target else placed


def _said(edge: Json, relations: Relations) -> str:
    """Return the relation of an edge of a path, as it is walked."""
    return relation_words(edge["relation"], edge["direction"], relations)


def _line(edge: Json, label: str, start: NodeBox, end: NodeBox) -> Line:
    """Return the line of an edge: straight below its label, then a curve to the next box.

    The arrow's head points in the direction of the stored edge.
    """
    x1, y1, x2, y2 = start.right, start.middle, end.x, end.middle
    bend = x2 - CURVE
    middle = (bend + x2) / 2
    curve = f"M{x1:.1f} {y1:.1f}H{bend:.1f}C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    head = f"M{x2:.1f} {y2:.1f}l-8 -4.5v9z" if edge["direction"] == "out" else f"M{x1:.1f} {y1:.1f}l8 -4.5v9z"
    return Line(curve, head, label, round((x1 + bend) / 2 + 6, 1), round(y1 - 8, 1))
