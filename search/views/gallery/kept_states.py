"""States of what people keep: own and saved searches, what changed since, collections, and one collection."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.core.paginator import Page as ListPage
from django.core.paginator import Paginator
from django.http import HttpRequest

from search.models import Collection, CollectionItem, KnowledgeBase, SavedSearch, SearchRun
from search.views.gallery.made_up import LONG, RIGHT_TO_LEFT, Made, search
from search.views.gallery.made_up import shown as made_up_shown

Page = tuple[str, Callable[[HttpRequest], Made]]
WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
_BASE = KnowledgeBase(name="films", title="Films")
_QUESTIONS = (
    "Who directed “Amber Road”?",
    "Which films of 1999 won a prize for their music?",
    "How many films are there?",
)


def _id(number: int) -> UUID:
    return UUID(int=number + 1)


def paged(rows: Sequence[Any], number: int = 25) -> ListPage[Any]:
    """Return the first page of a list that may be longer."""
    return Paginator(rows, number).page(1)


def run(number: int, question: str = "", **values: Any) -> SearchRun:
    """Return a made-up search that no database holds."""
    given: dict[str, Any] = {
        "pk": _id(number), "question": question or _QUESTIONS[number % len(_QUESTIONS)],
        "knowledge_base_name": "films", "release_name": "films-3", "pipeline": "grasp", "status": "done",
        "created": WHEN, "error": {},
    }  # fmt: skip
    return SearchRun(**given | values)


def _searches(entries: Sequence[Mapping[str, Any]], count: int = 0, **values: Any) -> Callable[[HttpRequest], Made]:
    context = {
        "entries": entries, "page": paged([*entries, *range(count)]), "saved": False, "q": "", "kb": "",
        "programs": False, "fault": "", "bases": ["films", "papers"],
    }  # fmt: skip
    return lambda _: ("search/searches.html", context | values)


def _kept(number: int, name: str = "Prizes for music", note: str = "") -> SavedSearch:
    return SavedSearch(pk=_id(number), name=name, note=note)


def _entry(number: int, question: str = "", saved: SavedSearch | None = None, **news: str) -> dict[str, Any]:
    return {"run": run(number, question), "saved": saved, "news": SimpleNamespace(**news) if news else None}


SEARCHES: Mapping[str, Page] = {
    "empty": ("Nothing asked yet", _searches([], bases=[])),
    "empty-saved": ("Nothing saved yet", _searches([], saved=True, bases=[])),
    "filtered": ("Nothing fits the filter", _searches([], q="lighthouse")),
    "one": ("One search", _searches([_entry(0)], bases=["films"])),
    "many": (
        "Several pages, one search failed",
        _searches([{**_entry(1), "run": run(1, status="failed")}, *(_entry(at) for at in range(2, 12))], 200),
    ),
    "saved": (
        "Saved, with a note and a newer release",
        _searches(
            [_entry(0, "", _kept(0, note="For the festival's booklet."), release="films-4", version="grasp 2"),
             _entry(1, "", _kept(1, _QUESTIONS[1]))],
            saved=True,
        ),
    ),
    "error": ("A change was refused", _searches([_entry(0)], fault="A name needs at least one character.")),
    "long-words": ("Words that do not fit", _searches([_entry(0, LONG, _kept(0, LONG, LONG), release=LONG)])),
    "right-to-left": ("From right to left", _searches([_entry(0, RIGHT_TO_LEFT)])),
}  # fmt: skip


def _collection(number: int, name: str, size: int, note: str = "", key: str = "") -> Collection:
    made = Collection(pk=_id(number), name=name, note=note, key=key, changed=WHEN)
    made.size = size  # type: ignore[attr-defined]
    return made


def _collections(*made: Collection, more: int = 0, **values: Any) -> Callable[[HttpRequest], Made]:
    context = {"page": paged([*made, *(_collection(9 + at, f"Series {at + 1}", at) for at in range(more))]),
               "fault": "", "typed": ""}  # fmt: skip
    return lambda _: ("search/collections.html", context | values)


_MUSIC = _collection(0, "Film music", 12, "For the programme of March.")
COLLECTIONS: Mapping[str, Page] = {
    "empty": ("None yet", _collections()),
    "one": ("One", _collections(_MUSIC)),
    "many": ("Several pages, one is shared", _collections(_MUSIC, _collection(1, "Night shots", 3, key="k"), more=40)),
    "error": ("A name that is taken", _collections(_MUSIC, fault="You have a collection of this name already.",
                                                   typed="Film music")),
    "long-words": ("Words that do not fit", _collections(_collection(0, LONG, 10_000, LONG))),
    "right-to-left": ("From right to left", _collections(_collection(0, RIGHT_TO_LEFT, 3, RIGHT_TO_LEFT))),
}  # fmt: skip


def _item(number: int, name: str = "Amber Road", note: str = "", **values: Any) -> CollectionItem:
    given: dict[str, Any] = {
        "pk": number + 1, "position": number, "knowledge_base": _BASE, "knowledge_base_name": "films",
        "node_id": f"film/{number}", "node_name": name, "node_type": "film", "question": _QUESTIONS[0], "rank": 1,
        "evidence": f"Ada Holm ← directed by — {name}", "note": note,
    }  # fmt: skip
    return CollectionItem(**given | values)


def _one(items: Sequence[CollectionItem], **values: Any) -> Callable[[HttpRequest], Made]:
    context: dict[str, Any] = {
        "collection": _MUSIC, "page": paged(items, 50), "own": True, "undo": None, "fault": "", "hidden": 0, "link": "",
        "files": [(name, "#") for name in ("CSV", "JSON lines", "BibTeX")],
    }  # fmt: skip
    return lambda _: ("search/collection.html", context | values)


COLLECTION: Mapping[str, Page] = {
    "empty": ("Nothing in it", _one([])),
    "one": ("One result", _one([_item(0, note="The score is by Ivo Lind.")])),
    "many": ("Many, one just removed", _one([_item(at) for at in range(60)], undo=_item(61, "Winter Light"))),
    "shared": ("Shared, and a reader sees it", _one([_item(0, note="See also its sequel.")], own=False, hidden=2)),
    "link": ("Its owner, after sharing", _one([_item(0)], link="https://example.org/collections/shared/9f2c7b1a/")),
    "error": ("A note that is too long", _one([_item(0)], fault="A note has at most 4,000 characters.")),
    "long-words": (
        "Words that do not fit",
        _one([_item(0, LONG, LONG, question=LONG)], collection=_collection(0, LONG, 1, LONG)),
    ),
    "right-to-left": (
        "From right to left",
        _one([_item(0, RIGHT_TO_LEFT, RIGHT_TO_LEFT)], collection=_collection(0, RIGHT_TO_LEFT, 1, RIGHT_TO_LEFT)),
    ),
}


def _collecting(name: str, own: Sequence[Collection] = (), faults: Sequence[str] = ()) -> Callable[[HttpRequest], Made]:
    context = {"base": _BASE, "node": "film/1", "run": None, "faults": faults, "name": name, "own": own, "first": ""}
    return lambda _: ("search/collect.html", context)


COLLECT: Mapping[str, Page] = {
    "empty": ("Into a first collection", _collecting("Amber Road")),
    "many": ("Into one of several", _collecting("Amber Road", [_MUSIC, _collection(1, "Night shots", 3)])),
    "error": ("Without a name", _collecting("Amber Road", faults=["A name needs at least one character."])),
    "long-words": ("Words that do not fit", _collecting(LONG, [_collection(0, LONG, 10_000)])),
}
_REASONS = ({"name": "Release", "before": "films-3", "after": "films-4"},)


def _moved(kind: str, before: int | None, after: int | None, name: str) -> dict[str, Any]:
    by = before - after if before and after else 0
    return {"kind": kind, "before": before, "after": after, "by": by,
            "node": {"id": f"film/{name}", "name": name, "type": "film"}}  # fmt: skip


def _changed(*moved: Mapping[str, Any], status: str = "done", **values: Any) -> Callable[[HttpRequest], Made]:
    kinds = [one["kind"] for one in moved]
    differs = bool(moved)
    context = {
        "before": run(1), "after": run(2, status=status, release_name="films-4"),
        "search": made_up_shown(search(status=status)), "parts": [], "reasons": _REASONS, "moved": moved, "failed": [],
        "saved": _kept(1),
        "changed": {
            "counts": {kind: kinds.count(kind) for kind in ("new", "gone", "up", "down")} | {"same": 14},
            "results": [1], "answer": {"differs": differs, "before": "3 answers", "after": "4 answers"},
        },
    }  # fmt: skip
    return lambda _: ("search/changes.html", context | values)


CHANGES: Mapping[str, Page] = {
    "running": ("Asking again", _changed(status="running")),
    "empty": ("All is as it was", _changed(reasons=())),
    "many": (
        "New, gone, higher and lower",
        _changed(
            _moved("new", None, 1, "Winter Light"), _moved("gone", 2, None, "Amber Road"), _moved("up", 9, 3, "Tarn"),
            _moved("down", 3, 12, "Low Tide"),
            parts=[{"kind": "added", "name": "Condition", "text": "year = 1999"}],
        ),
    ),
    "error": ("The search of now failed", _changed(failed=[run(2, status="failed",
              error={"detail": "Postgres is not reachable."})])),
    "long-words": ("Words that do not fit", _changed(_moved("new", None, 1, LONG))),
    "right-to-left": ("From right to left", _changed(_moved("up", 2, 1, RIGHT_TO_LEFT))),
}  # fmt: skip
