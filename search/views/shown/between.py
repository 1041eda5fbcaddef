"""Paths between two nodes as a drawing from left to right: layers of nodes and groups, with their relations between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search.domain.graph import Direction
from search.plan_words import Relations, relation_words
from search.sentences.values import type_words
from search.services.knowledge.paths_between import Group, PathBox, PathLink, PathsBetween
from search.views.shown.drawing import (
    BOX_HEIGHT,
    CURVE,
    LABEL_WIDTH,
    MARGIN,
    MOST_NAME_CHARACTERS,
    NAME_WIDTH,
    DrawnBox,
    breadth,
)  # fmt: skip

PORT = 26.0
"""Height of a line's beginning with its label above it."""
APART = 22.0
LEAST_WIDTH = 84.0
Walked = tuple[tuple[str, Direction], ...]


@dataclass(frozen=True, slots=True)
class PlacedBox(DrawnBox):
    """A node or a group with its position; `id` is a node's id, empty for a group, whose `group` opens it."""

    x: float
    y: float
    width: float
    kind: str
    type: str
    name: str
    full_name: str
    id: str = ""
    group: Group | None = None
    can_open: bool = False

    height = BOX_HEIGHT

    @property
    def behind(self) -> tuple[float, float]:
        """The corner of the second box that a group shows behind the first."""
        return self.x + 4, self.y + 4


@dataclass(frozen=True, slots=True)
class Label:
    """The name of the relations over the beginning of one or several lines."""

    text: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Sketch:
    """Everything within width × height; `heads` are the arrows' points, `summary` says it in words."""

    width: float
    height: float
    boxes: tuple[PlacedBox, ...]
    curves: tuple[str, ...]
    heads: tuple[str, ...]
    labels: tuple[Label, ...]
    summary: str


def sketch(found: PathsBetween, wordings: Relations) -> Sketch | None:
    """Return the drawing of the paths between two nodes, or None if there are none.

    `wordings` are the relations of the schema, which word each relation as it is walked.
    """
    if not found.layers:
        return None
    ports = [_ports(links) for links in found.links]
    columns = [[_size(box, at, found) for box in layer] for at, layer in enumerate(found.layers)]
    heights = [
        [
            max(BOX_HEIGHT, len(ports[at].get(index, {})) * PORT if at < len(ports) else 0.0)
            for index in range(len(layer))
        ]
        for at, layer in enumerate(found.layers)
    ]
    height = max(sum(column) + APART * (len(column) - 1) for column in heights) + 2 * MARGIN + 16
    placed: list[list[PlacedBox]] = []
    x = MARGIN
    for at, column in enumerate(columns):
        width = max(width for width, _, _ in column)
        placed.append(_column(found, at, column, heights[at], x, height))
        x += width + (_gap(ports[at], wordings) if at < len(ports) else 0.0)
    lines = [line for at, own in enumerate(ports) for line in _lines(own, placed[at], placed[at + 1], wordings)]
    return Sketch(
        width=round(x + MARGIN + 4, 1),
        height=round(height, 1),
        boxes=tuple(box for column in placed for box in column),
        curves=tuple(curve for curves, _, _ in lines for curve in curves),
        heads=tuple(head for _, heads, _ in lines for head in heads),
        labels=tuple(label for _, _, label in lines),
        summary=_summary(found),
    )


def _summary(found: PathsBetween) -> str:
    kinds = " – ".join(
        " or ".join(dict.fromkeys(type_words(box.type) for box in layer)) for layer in found.layers[1:-1]
    )
    over = f" over {kinds}" if kinds else ""
    return f"{found.count:,} path{'' if found.count == 1 else 's'} from {found.start.name} to {found.end.name}{over}"


def _ports(links: Sequence[PathLink]) -> dict[int, dict[Walked, list[int]]]:
    """Return box → {relations: boxes that they lead to}: lines with the same relations leave a box together."""
    pairs: dict[tuple[int, int], list[tuple[str, Direction]]] = {}
    for link in links:
        pairs.setdefault((link.near, link.far), []).append((link.relation, link.direction))
    found: dict[int, dict[Walked, list[int]]] = {}
    for (near, far), relations in sorted(pairs.items()):
        found.setdefault(near, {}).setdefault(tuple(relations), []).append(far)
    return found


def _label(relations: Walked, wordings: Relations) -> str:
    """Return the relations as they are walked, each with an arrow in its stored direction."""
    said = ((relation_words(name, direction, wordings), direction) for name, direction in relations[:2])
    return ", ".join(f"{text} →" if direction == "out" else f"← {text}" for text, direction in said) + (
        f" +{len(relations) - 2}" if len(relations) > 2 else ""
    )


def _gap(ports: Mapping[int, Mapping[Walked, Sequence[int]]], wordings: Relations) -> float:
    labels = [breadth(_label(relations, wordings)) for own in ports.values() for relations in own]
    return max(labels, default=0) * LABEL_WIDTH + 24 + 2 * CURVE


def _size(box: PathBox, at: int, found: PathsBetween) -> tuple[float, str, str]:
    """Return the width of a box, and its type and name as they are shown."""
    name = box.node.name if box.node else f"{box.count:,} {'more' if box.rest else 'of them'}"
    short = name if len(name) <= MOST_NAME_CHARACTERS else name[: MOST_NAME_CHARACTERS - 1].rstrip() + "…"
    kind = type_words(box.type)
    if at in (0, len(found.layers) - 1):
        kind = f"{'from' if at == 0 else 'to'} · {kind}"
    return max(breadth(short) * NAME_WIDTH, breadth(kind) * LABEL_WIDTH, LEAST_WIDTH) + 24, kind, short


def _column(
    found: PathsBetween,
    at: int,
    sizes: Sequence[tuple[float, str, str]],
    heights: Sequence[float],
    x: float,
    room: float,
) -> list[PlacedBox]:
    """Return the boxes of a layer one below the other, in the middle of the drawing's height."""
    y = (room - sum(heights) - APART * (len(heights) - 1)) / 2
    boxes = []
    for box, (width, kind, name), height in zip(found.layers[at], sizes, heights, strict=True):
        end = at in (0, len(found.layers) - 1)
        shape = "anchor" if end else "between" if box.node else "group"
        whole = box.node.name if box.node else f"{box.count:,} × {kind}"
        boxes.append(
            PlacedBox(
                x=round(x, 1),
                y=round(y + (height - BOX_HEIGHT) / 2, 1),
                width=round(width, 1),
                kind=shape,
                type=kind,
                name=name,
                full_name=whole,
                id=box.node.id if box.node else "",
                group=box.group,
                can_open=not box.node and not box.rest,
            )
        )
        y += height + APART
    return boxes


def _lines(
    ports: Mapping[int, Mapping[Walked, Sequence[int]]],
    near: Sequence[PlacedBox],
    far: Sequence[PlacedBox],
    wordings: Relations,
) -> list[tuple[list[str], list[str], Label]]:
    """Return for each beginning of lines its curves, the points of its arrows, and its label."""
    found = []
    gap_end = min(box.x for box in far)
    for index, own in ports.items():
        box = near[index]
        ordered = sorted(own.items(), key=lambda item: sum(far[at].middle for at in item[1]) / len(item[1]))
        for place, (relations, targets) in enumerate(ordered):
            y = box.middle + (place - (len(ordered) - 1) / 2) * PORT
            bend = gap_end - CURVE
            begin = f"M{box.right:.1f} {box.middle:.1f}C{box.right + CURVE / 2:.1f} {box.middle:.1f}"
            begin += f" {box.right + CURVE / 2:.1f} {y:.1f} {box.right + CURVE:.1f} {y:.1f}H{bend:.1f}"
            middle = (bend + gap_end) / 2
            curves = [
                f"{begin}C{middle:.1f} {y:.1f} {middle:.1f} {far[at].middle:.1f} {far[at].x:.1f} {far[at].middle:.1f}"
                for at in targets
            ]
            sides = {direction for _, direction in relations}
            heads = [f"M{far[at].x:.1f} {far[at].middle:.1f}l-8 -4.5v9z" for at in targets] if "out" in sides else []
            if "in" in sides:
                heads.append(f"M{box.right + CURVE:.1f} {y:.1f}m-2 0l8 -4.5v9z")
            label = Label(_label(relations, wordings), round((box.right + CURVE + bend) / 2, 1), round(y - 6, 1))
            found.append((curves, heads, label))
    return found
