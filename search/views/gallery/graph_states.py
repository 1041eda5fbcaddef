"""States of the pages of one entity, of what is like it, and of the paths between two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.http import HttpRequest

from search.domain.graph import Node
from search.models import KnowledgeBase
from search.services.knowledge.alike_nodes import AlikeNodes
from search.services.knowledge.paths_between import PathBox, PathLink, PathsBetween
from search.shortest_paths import Between, WalkedStep
from search.views.entity import show_fields
from search.views.gallery.made_up import LONG, RIGHT_TO_LEFT, Made, made_up_box
from search.views.nodes import MeantNode
from search.views.shown.between import sketch

Page = tuple[str, Callable[[HttpRequest], Made]]
_BASE = KnowledgeBase(name="films", title="Films", source="Made up for this gallery.", licence="CC0-1.0")
_ONCE = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
HUB = 500_000


def _group(relation: str, direction: str, far: str, count: int, name: str = "Amber Road") -> dict[str, Any]:
    items = [
        {"id": f"{far}{at}", "name": f"{name} {at + 1}" if count > 1 else name, "type": far, "properties": {}}
        for at in range(min(count, 50))
    ]
    return {
        "relation": relation, "direction": direction, "wording": relation.lower().replace("_", " "), "count": count,
        "more": False, "page": 1, "pages": -(-count // 50), "items": items, "far": far,
        "one_type": True, "question": name, "plan": "{}",
    }  # fmt: skip


def _entity(*groups: dict[str, Any], name: str = "Ada Holm", text: str = "") -> Callable[[HttpRequest], Made]:
    def made(request: HttpRequest) -> Made:
        fields: list[dict[str, Any]] = [
            {"name": "biography", "kind": "text", "value": text or f"{name} has directed films since 1999."},
            {"name": "languages", "kind": "keyword", "value": ["Norwegian", "English", "Sami"]},
            {"name": "born", "kind": "number", "value": 1971},
        ]
        node = {"id": "person/1", "type": "person", "name": name, "aliases": ["A. Holm"], "fields": fields, "url": ""}
        return "search/entity.html", {
            "fields": show_fields(fields, {}), "base": _BASE, "node": node | {"release": "films-3"}, "link": "",
            "box": made_up_box(),
            "by_id": False, "groups": groups, "many": len(groups) >= 4, "edges": sum(g["count"] for g in groups),
            "edges_more": False,
            "origin": {
                "number": 12, "source": "films.zip", "hash": "1590c0f85839", "imported": _ONCE, "activated": _ONCE,
                "bad_rows": 3,
            },
        }  # fmt: skip

    return made


ENTITIES: Mapping[str, Page] = {
    "empty": ("Nothing is related to it", _entity()),
    "one": ("One relation", _entity(_group("DIRECTED_BY", "in", "film", 1))),
    "many": (
        "Several groups of relations",
        _entity(*(_group(one, "in", "film", 3) for one in ("DIRECTED_BY", "WRITTEN_BY", "EDITED_BY", "LENT_BY"))),
    ),
    "ten-thousand": ("A hub", _entity(_group("DIRECTED_BY", "in", "film", HUB))),
    "long-words": ("Words that do not fit", _entity(_group(f"{LONG}_BY", "out", LONG, 3, LONG), name=LONG, text=LONG)),
    "right-to-left": (
        "From right to left",
        _entity(_group("DIRECTED_BY", "in", "film", 3, RIGHT_TO_LEFT), name=RIGHT_TO_LEFT, text=RIGHT_TO_LEFT),
    ),
}


def _alike(found: AlikeNodes) -> Callable[[HttpRequest], Made]:
    return lambda _: ("search/alike.html", {"base": _BASE, "node": {"id": "p1", "name": "Ada Holm"}, "found": found})


def _like(at: int, name: str = "Bob Berg") -> dict[str, Any]:
    over = [f"Amber Road {at}", "Winter Light"]
    return {"id": f"p{at}", "type": "person", "name": name, "cosine": 0.9 - at / 20, "shared": 9 - at, "over": over}


ALIKE: Mapping[str, Page] = {
    "many": ("Both lists", _alike(AlikeNodes([_like(at) for at in range(8)], [_like(at) for at in range(8)]))),
    "degraded": (
        "Without vectors, without shared neighbours",
        _alike(
            AlikeNodes([], [], "This release has no vectors of texts.", "No other entity shares a neighbour with it.")
        ),
    ),
    "long-words": ("Words that do not fit", _alike(AlikeNodes([_like(1, LONG)], [_like(1, LONG)]))),
}
_ADA, _BOB = Node(0, "ada", "person", "Ada Holm"), Node(1, "bob", "person", "Bob Berg")


def _step(near: Sequence[int], far: Sequence[int]) -> WalkedStep:
    size = len(near)
    forward = np.zeros(size, dtype=bool)
    return WalkedStep(np.array(near, np.int32), np.array(far, np.int32), np.zeros(size, np.int16), forward)


def _paths(boxes: Sequence[PathBox], count: int, name: str = "Ada Holm") -> Callable[[HttpRequest], Made]:
    def made(_: HttpRequest) -> Made:
        start = Node(0, "ada", "person", name)
        middle = np.arange(2, 2 + count, dtype=np.int32)
        between = Between(
            (np.array([0], np.int32), middle, np.array([1], np.int32)),
            (_step([0] * count, middle.tolist()), _step(middle.tolist(), [1] * count)),
        )
        links = (
            [PathLink(0, at, "DIRECTED_BY", "in", box.count) for at, box in enumerate(boxes)],
            [PathLink(at, 0, "WRITTEN_BY", "out", box.count) for at, box in enumerate(boxes)],
        )
        layers = ([PathBox("person", 1, start)], boxes, [PathBox("person", 1, _BOB)])
        found = PathsBetween(None, start, _BOB, between, layers, links)  # type: ignore[arg-type]
        drawing = sketch(found, {})
        groups = [
            {"type": box.type, "count": box.count, "rest": box.rest, "open": "open=1.film", "list": "list=1.film"}
            for box in boxes if box.node is None
        ]  # fmt: skip
        return "search/paths_between.html", _form(name) | {
            "found": found, "drawing": drawing, "query": "", "groups": groups, "page": 1, "last": -(-count // 50),
            "previous": "", "next": "page=2", "boxes": [(box, "") for box in (drawing.boxes if drawing else ())],
            "leave_out": [("film", "without=film")], "undo": "", "changed": [], "first": 0,
            "paths": [{"words": f"{name} ← directed by — Winter Light — written by → Bob Berg"}] * min(count, 5),
        }  # fmt: skip

    return made


def _form(start: str, end: MeantNode | None = None) -> dict[str, Any]:
    return {
        "base": _BASE, "start": MeantNode(start, "ada" if start else "", start), "hops": 4, "choices": range(1, 5),
        "end": end or MeantNode("Bob Berg", "bob", "Bob Berg"),
    }  # fmt: skip


def _no_paths(reason: str) -> Callable[[HttpRequest], Made]:
    return lambda _: (
        "search/paths_between.html",
        _form("Ada Holm") | {"found": PathsBetween(None, _ADA, _BOB, reason=reason)},  # type: ignore[arg-type]
    )


def _asking(start: str, end: MeantNode) -> Callable[[HttpRequest], Made]:
    return lambda _: ("search/paths_between.html", _form(start, end) | {"found": None})


def _film(at: int, name: str) -> PathBox:
    return PathBox("film", 1, Node(2 + at, f"f{at}", "film", name), (1, "film"))


_OFFERS = tuple({"id": f"bob/{at}", "name": "Bob Berg", "type": kind} for at, kind in enumerate(("person", "film")))
PATHS: Mapping[str, Page] = {
    "asking": ("Nothing chosen yet", _asking("", MeantNode(""))),
    "ambiguous": ("A name that several have", _asking("Ada Holm", MeantNode("Bob Berg", offers=_OFFERS))),
    "error": ("A name that nobody has", _asking("Ada Holm", MeantNode("Bobb", fault="Nothing here is called “Bobb”."))),
    "empty": ("No path", _no_paths("No path of at most 4 steps leads from one to the other.")),
    "one": ("One path", _paths([_film(0, "Winter Light")], 1)),
    "many": (
        "Several, and a group",
        _paths([_film(0, "Winter Light"), PathBox("prize", 412, None, (1, "prize"))], 413),
    ),
    "ten-thousand": ("A group of 10,000", _paths([PathBox("film", 10_000, None, (1, "film"))], 10_000)),
    "long-words": ("Words that do not fit", _paths([_film(0, LONG)], 1, LONG)),
    "right-to-left": ("From right to left", _paths([_film(0, RIGHT_TO_LEFT)], 1, RIGHT_TO_LEFT)),
}
