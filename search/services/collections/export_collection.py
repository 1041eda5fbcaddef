"""export_collection: the items of a collection as rows of a table, as JSON objects, and as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from search.models import CollectionItem, KnowledgeBase
from search.services.collections.bibliography import BibliographyEntry, entry_of, write_entry
from search.services.knowledge.describe_node import describe_node
from search.text import words

COLUMNS = ("place", "knowledge base", "id", "type", "name", "question", "rank", "evidence", "note", "added")


def rows_of(items: Iterable[CollectionItem]) -> Iterator[Sequence[str | int | float]]:
    """Yield the header, then a row for each item, with its text as it is."""
    yield COLUMNS
    for place, item in enumerate(items, 1):
        told = (item.knowledge_base_name, item.node_id, item.node_type, item.node_name, item.question)
        rank = "" if item.rank is None else item.rank
        yield [place, *told, rank, item.evidence, item.note, item.added.isoformat()]


def objects_of(items: Iterable[CollectionItem]) -> Iterator[dict[str, Any]]:
    """Yield each item as a JSON object, with the fields that its node has in the active release."""
    for place, item in enumerate(items, 1):
        node = _node(item)
        yield {
            "place": place,
            "knowledge_base": item.knowledge_base_name,
            "node": {"id": item.node_id, "type": item.node_type, "name": item.node_name},
            "fields": {field["name"]: field["value"] for field in node["fields"]} if node else None,
            "question": item.question,
            "search": str(item.run) if item.run else None,
            "rank": item.rank,
            "evidence": item.evidence,
            "note": item.note,
            "added": item.added.isoformat(),
        }


@dataclass(frozen=True)
class Bibliography:
    """The items of a collection as BibTeX: entries with notes, names of what does not fit, fields without a place."""

    entries: tuple[tuple[BibliographyEntry, str], ...]
    misfits: tuple[str, ...]
    left: tuple[tuple[str, tuple[str, ...]], ...]
    """The fields that BibTeX has no place for, by node type."""

    def write(self, title: str) -> Iterator[str]:
        """Yield the file in parts: what is in it, what did not fit, then the entries."""
        yield f"% {_line(title)}: {len(self.entries)} of {len(self.entries) + len(self.misfits)} results are works.\n"
        for name in self.misfits:
            yield f"% Does not fit, for it has no author, journal, DOI or ISBN: {_line(name)}\n"
        for node_type, fields in self.left:
            said = _line(", ".join(map(words, fields)))
            yield f"% No place in BibTeX for these fields of {words(node_type)}: {said}\n"
        taken: set[str] = set()
        for entry, note in self.entries:
            yield f"\n{write_entry(entry, taken, note)}\n"


def bibliography_of(items: Iterable[CollectionItem]) -> Bibliography:
    """Return the items as BibTeX. An item whose node is not in the active release does not fit."""
    entries, misfits, left = [], [], dict[str, dict[str, None]]()
    for item in items:
        node = _node(item)
        base = item.knowledge_base
        release = base.active_release if base is not None else None
        entry = entry_of(node, release.snapshot.schema) if node and release is not None else None
        if entry is None or not entry.fits:
            misfits.append(item.node_name or item.node_id)
            continue
        entries.append((entry, item.note))
        left.setdefault(item.node_type, {}).update(dict.fromkeys(entry.left))
    return Bibliography(
        tuple(entries), tuple(misfits), tuple((kind, tuple(fields)) for kind, fields in left.items() if fields)
    )


def _node(item: CollectionItem) -> dict[str, Any] | None:
    base: KnowledgeBase | None = item.knowledge_base
    if base is None or base.active_release is None:
        return None
    return describe_node(base.active_release, item.node_id)


def _line(text: str) -> str:
    return " ".join(text.split())
