"""Values of fields in the words of a follow-up: *tablets*, *open access*, *without steroids*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from search.interfaces import NodeStore, ValueIndex
from search.language.question import Word
from search.language.words import stem
from search.language.words import words as split
from search.stages.plan.knowledge import Knowledge

_SHORTEST_PART = 5
_SAMPLE = 1_000
_LIKE = 0.9
"""Least similarity from which a stretch is the whole value."""
_NEGATING = ("non", "anti", "un", "de")
"""Beginnings of words that say the opposite of their rest: *nonsteroidal*."""
Stems = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SaidValue:
    """A stretch of the words (start, end) that says values of a field of a node type.

    `part` says that the stretch is only a part of the values: *steroids* of *corticosteroid*.
    """

    start: int
    end: int
    label: str
    field: str
    values: tuple[str | int | float, ...]
    part: bool = False


def whole_values(text: str, index: ValueIndex | None) -> Iterator[SaidValue]:
    """Yield the values that the index finds in a text, the longest stretches first."""
    for one in index.find(text) if index is not None else ():
        yield SaidValue(one.start, one.end, one.node_type, one.field, (one.value,), one.similarity < _LIKE)


def part_values(
    words: Sequence[Word], labels: Sequence[str], knowledge: Knowledge, nodes: NodeStore
) -> Iterator[SaidValue]:
    """Yield for single words the values of keyword fields that hold the word as one of their words, or as its end."""
    for label in labels:
        for one in knowledge.schema.node_type(label).fields:
            if one.kind != "keyword":
                continue
            known = knowledge.kept(("values", id(nodes), label, one.name), partial(_known, nodes, label, one.name))
            for word in words:
                values = [value for value, stems in known.items() if _holds(stems, stem(word.text))]
                if values:
                    end = word.start + len(word.text)
                    yield SaidValue(word.start, end, label, one.name, tuple(values), part=True)


def _known(nodes: NodeStore, label: str, field: str) -> dict[str, Stems]:
    """Return the distinct values of a field in a sample of the nodes, with the stems of their words."""
    sample = nodes.values(label, field, _SAMPLE)
    several = {str(item) for value in sample for item in (value if isinstance(value, list) else [value])}
    return {value: tuple(stem(word) for word in split(value)) for value in sorted(several)}


def _holds(stems: Stems, said: str) -> bool:
    if said in stems:
        return True
    return len(said) >= _SHORTEST_PART and any(
        own.endswith(said) and not own.removesuffix(said).startswith(_NEGATING) for own in stems
    )
