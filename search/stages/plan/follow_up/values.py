"""Values of keyword fields in the words of a follow-up: *tablets*, *without steroids*, *journals*."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from search.interfaces import NodeStore, ValueIndex
from search.language.words import FUNCTION_WORDS, stem
from search.language.words import words as split
from search.stages.plan.knowledge import Knowledge

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MOST_WORDS = 5
_SHORTEST_PART = 5
_SAMPLE = 1_000


@dataclass(frozen=True, slots=True)
class SaidValue:
    """A stretch of the words (start, end) that says values of a field of a node type; `many`: the field has lists.

    `part` says that the stretch is only a part of the values: *steroids* of *corticosteroid*.
    """

    start: int
    end: int
    label: str
    field: str
    values: tuple[str | int | float, ...]
    many: bool = False
    part: bool = False


@dataclass
class _Known:
    """The distinct values of the keyword fields of a release, by their stems: one pass over a sample of the nodes."""

    nodes: NodeStore
    knowledge: Knowledge

    def __post_init__(self) -> None:
        self.values: dict[tuple[str, ...], list[tuple[str, str, bool, str]]] = {}
        for kind in self.knowledge.schema.node_types:
            for one in kind.fields:
                if one.kind != "keyword":
                    continue
                sample = self.nodes.values(kind.name, one.name, _SAMPLE)
                several = {str(item) for value in sample for item in (value if isinstance(value, list) else [value])}
                for value in sorted(several):
                    self.values.setdefault(stems_of(value), []).append((kind.name, one.name, one.many, value))


_NEGATING = ("non", "anti", "un", "de")
"""Beginnings of words that say the opposite of their rest: *nonsteroidal*."""


def _ends(own: str, said: str) -> bool:
    return own != said and own.endswith(said) and not own.removesuffix(said).startswith(_NEGATING)


def stems_of(text: str) -> tuple[str, ...]:
    """Return the stems of a text's words, in their order."""
    return tuple(stem(word) for word in split(text))


def said_values(
    text: str, knowledge: Knowledge, nodes: NodeStore, index: ValueIndex | None = None
) -> Iterator[SaidValue]:
    """Yield the values that a text says, the longest stretches first; one stretch may be a value of several fields."""
    known = knowledge.kept(("follow-up values", id(nodes)), lambda: _Known(nodes, knowledge)).values
    matches = list(_WORD.finditer(text))
    for length in range(min(_MOST_WORDS, len(matches)), 0, -1):
        for at in range(len(matches) - length + 1):
            start, end = matches[at].start(), matches[at + length - 1].end()
            said = stems_of(text[start:end])
            yield from _whole(known.get(said, []), start, end)
            if length == 1 and said and text[start:end].lower() not in FUNCTION_WORDS:
                yield from _parts(known, said[0], start, end)


def _whole(found: list[tuple[str, str, bool, str]], start: int, end: int) -> Iterator[SaidValue]:
    for label, field, many, value in found:
        yield SaidValue(start, end, label, field, (value,), many)


def _parts(
    known: dict[tuple[str, ...], list[tuple[str, str, bool, str]]], said: str, start: int, end: int
) -> Iterator[SaidValue]:
    """Yield for each field the values that hold a word as one of their words, or as the end of one."""
    fields: dict[tuple[str, str, bool], list[str]] = {}
    for stems, entries in known.items():
        ends = len(said) >= _SHORTEST_PART and any(_ends(own, said) for own in stems)
        if (said in stems and len(stems) > 1) or ends:
            for label, field, many, value in entries:
                fields.setdefault((label, field, many), []).append(value)
    for (label, field, many), values in fields.items():
        yield SaidValue(start, end, label, field, tuple(values), many, part=True)
