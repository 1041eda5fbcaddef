"""Collects the values of fields that a question may say as a condition, and writes them as an index.

Which values count: all of keyword fields that are no identifiers; values that occur repeatedly in fields of short
texts; numbers (found only beside the field's name); fields of yes and no by their name. Fields with more than
`MOST_VALUES` different values are left out: their values are identifiers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from search.adapters.name_words import folder_of, words_of
from search.adapters.string_table import write_strings
from search.adapters.values_memmap import (
    MANIFEST,
    MOST_VALUE_WORDS,
    NUMBER,
    PART,
    YES,
    build_words,
    code_of,
    field_words,
)  # fmt: skip
from search.domain.graph import Field, FieldValue, Node, Schema

MOST_VALUES = 100_000
"""Most different values of a field that is kept."""
LONGEST_VALUE = 80
"""Most characters of a value."""
LEAST_SHORT = 0.5
"""Share of short values from which on the values of a text field are conditions; its others are read as text."""
_YES = {"true": True, "yes": True, "y": True, "t": True, "false": False, "no": False, "n": False, "f": False}
_ADDRESS = re.compile(r"^\w+://|^#[0-9a-fA-F]{3,8}$|^\w+:\w*\d\w*$")
"""Values that nobody says: addresses, colours as numbers, identifiers with a prefix."""
_PARTS = re.compile(r"\s*[,;/|]\s+|\s+\|\s+")

Scalar = str | int | float


@dataclass
class _Values:
    """The values of one field of one type: how many nodes have each, as far as they are short."""

    of: Field
    counts: Counter[Scalar] = field(default_factory=Counter)
    seen: int = 0
    given_up: bool = False

    def add(self, value: FieldValue) -> None:
        """Count the values of one node, each once."""
        self.seen += 1
        if self.given_up:
            return
        items: Iterable[Scalar] = dict.fromkeys(value) if isinstance(value, list) else (value,)
        for item in items:
            if _short(item):
                self.counts[item] += 1
        if len(self.counts) > MOST_VALUES:
            self.given_up = True
            self.counts.clear()

    @property
    def yes(self) -> Scalar | None:
        """The value for yes, if all values of the field are yes or no; else None."""
        if not self.counts or len(self.counts) > 4:
            return None
        if self.of.kind == "number":
            return 1 if set(self.counts) <= {0, 1} and 1 in self.counts else None
        meanings = {value: _YES.get(str(value).casefold()) for value in self.counts}
        if None in meanings.values():
            return None
        return next((value for value, meaning in meanings.items() if meaning), None)

    def kept(self) -> Iterator[tuple[Scalar, int]]:
        """Yield the values that a question may say, each with its number of nodes."""
        # The items of a list of short texts are conditions even if no other node has them: *two doors*.
        repeated = 2 if self.of.kind == "text" and not self.of.many else 1
        if self.of.kind == "text" and sum(self.counts.values()) < LEAST_SHORT * self.seen:
            return
        for value, nodes in self.counts.items():
            if nodes >= repeated and not _ADDRESS.match(str(value)):
                yield value, nodes


def _short(value: Scalar) -> bool:
    return not isinstance(value, str) or (0 < len(value) <= LONGEST_VALUE and value.count(" ") < MOST_VALUE_WORDS)


@dataclass(frozen=True)
class _Row:
    """One way to say a value: the words that are said, the field, the value, its nodes and flags."""

    code: int
    phrase: str
    owner: int
    value: str
    nodes: int
    flags: int


def build(directory: Path, schema: Schema, nodes: Iterable[Node]) -> None:
    """Write the index of the values of these nodes into the existing folder `directory`."""
    collected: dict[tuple[str, str], _Values] = {
        (kind.name, one.name): _Values(one) for kind in schema.node_types for one in kind.fields if one.kind != "date"
    }
    for node in nodes:
        for name, value in node.fields.items():
            if (values := collected.get((node.type, name))) is not None:
                values.add(value)
    fold = folder_of(schema.language)
    kept = {key: values for key, values in collected.items() if values.counts}
    rows = [
        row
        for owner, ((_, name), values) in enumerate(kept.items())
        for row in _rows(owner, field_words(name, fold), values, fold)
    ]
    rows.sort(key=lambda row: (row.code, -row.nodes))
    np.save(directory / "hashes.npy", np.array([row.code for row in rows], dtype=np.uint64))
    np.save(directory / "owners.npy", np.array([row.owner for row in rows], dtype=np.int32))
    np.save(directory / "nodes.npy", np.array([row.nodes for row in rows], dtype=np.int32))
    np.save(directory / "flags.npy", np.array([row.flags for row in rows], dtype=np.uint8))
    write_strings(directory / "values", (row.value for row in rows))
    write_strings(directory / "phrases", (row.phrase for row in rows))
    folded = {row.phrase: tuple(fold(word) for word in words_of(row.phrase)) for row in rows}
    words = sorted({word for folds in folded.values() for word in folds}, key=str.encode)
    write_strings(directory / "words", words)
    build_words(directory, words)
    manifest = {
        "language": schema.language,
        "longest": max((len(folds) for folds in folded.values()), default=0),
        "fields": [
            {"type": kind, "field": name, "words": field_words(name, fold)} for kind, name in kept
        ],
    }  # fmt: skip
    (directory / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False))


def _rows(owner: int, name: tuple[str, ...], values: _Values, fold: Callable[[str], str]) -> Iterator[_Row]:
    """Yield the rows of a field: one for each value, one for each part of a list of places, or the field's own name."""
    yes = values.yes
    if yes is not None:
        yield _Row(code_of(name), " ".join(name), owner, json.dumps(yes), values.counts[yes], YES)
        return
    kept, parts = list(values.kept()), Counter[str]()
    for value, nodes in kept:
        if isinstance(value, str) and len(pieces := _PARTS.split(value)) > 1:
            parts.update({piece: nodes for piece in dict.fromkeys(pieces) if len(piece) > 2})
    # *Melbourne* that mostly stands in *Melbourne, Australia* asks for those, too.
    parts = Counter({piece: nodes for piece, nodes in parts.items() if nodes > values.counts.get(piece, 0)})
    for value, nodes in kept:
        flags = 0 if isinstance(value, str) else NUMBER
        if value not in parts and (row := _row(owner, str(value), value, nodes, flags, fold)):
            yield row
    for piece, nodes in parts.items():
        if row := _row(owner, piece, piece, nodes + values.counts.get(piece, 0), PART, fold):
            yield row


def _row(owner: int, phrase: str, value: Scalar, nodes: int, flags: int, fold: Callable[[str], str]) -> _Row | None:
    words = words_of(phrase)
    if not 0 < len(words) <= MOST_VALUE_WORDS:
        return None
    code = code_of([fold(word) for word in words])
    return _Row(code, phrase, owner, json.dumps(value, ensure_ascii=False), nodes, flags)
