"""Words that are parts of values of fields: *without steroids*, where the value is *corticosteroid*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from search.interfaces import NodeStore
from search.language.words import stem, words
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.sets import Kind, Where, codes

_SHORTEST_PART = 5
_SAMPLE = 1_000
_NEGATING = ("non", "anti", "un", "de")
"""Beginnings of words that say the opposite of their rest: *nonsteroidal*."""
Stems = tuple[str, ...]


def valued(word: str, types: int, knowledge: Knowledge, nodes: NodeStore) -> Iterator[Where]:
    """Yield the nodes of some types with a keyword that holds a word as one of its words, or as the end of one."""
    said = stem(word)
    fields = knowledge.kept(("values", id(nodes)), dict[tuple[str, str], dict[str, Stems]])
    for code in codes(types):
        kind = knowledge.schema.node_types[code]
        for one in kind.fields:
            if one.kind != "keyword":
                continue
            # Kept together: one by one they would drive out what every question needs.
            if (kind.name, one.name) not in fields:
                fields[kind.name, one.name] = _known(nodes, kind.name, one.name)
            known = fields[kind.name, one.name]
            values = tuple(value for value, stems in known.items() if _holds(stems, said))
            if values:
                several = len(values) > 1
                yield Where(1 << code, Kind(1 << code), one.name, "in" if several else "=",
                            values if several else values[0])  # fmt: skip


def _known(nodes: NodeStore, label: str, field: str) -> dict[str, Stems]:
    """Return the distinct values of a field in a sample of the nodes, with the stems of their words."""
    sample = nodes.values(label, field, _SAMPLE)
    several = {str(item) for value in sample for item in (value if isinstance(value, list) else [value])}
    return {value: tuple(stem(word) for word in words(value)) for value in sorted(several)}


def _holds(stems: Sequence[str], said: str) -> bool:
    if said in stems:
        return True
    return len(said) >= _SHORTEST_PART and any(
        own.endswith(said) and not own.removesuffix(said).startswith(_NEGATING) for own in stems
    )
