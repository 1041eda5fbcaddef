"""Which nodes take part in similarity edges, and the signals that a release has of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from search.domain.graph import Node, Schema
from search.domain.similarity import SimilarSettings
from search.domain.vector_kinds import DOCUMENT, FIELD, NAME, WHOLE
from search.ingest.similar.signals import Signal, ValueSignal, VectorSignal
from search.interfaces import Keys, KindMatrix
from search.text import field_text

CONTENT, TITLE, TOPICS = "content", "title", "topics"
SHARED_BY = 1_000
"""A keyword that more nodes have says little about any of them, and is left out."""


@dataclass(frozen=True, slots=True)
class TakingPart:
    """The nodes that take part: their keys, sorted, the type code of each, and their values of keyword fields.

    `values` has a row for each key and a column for each value, 1 where the node has it.
    """

    keys: Keys
    types: NDArray[np.int16]
    values: csr_array


def taking_part(nodes: Iterable[Sequence[Node]], schema: Schema, settings: SimilarSettings) -> TakingPart:
    """Return the nodes of blocks in the order of keys that have enough text and a chosen type.

    Text is what stands in the fields of kind `text`. Keywords of one field are compared with those of the same field.
    """
    chosen = set(settings.types) or {node_type.name for node_type in schema.node_types}
    kinds = {t.name: {f.name: f.kind for f in t.fields} for t in schema.node_types}
    keys, types, columns, starts = array("i"), array("h"), array("i"), array("q", [0])
    known: dict[tuple[str, str], int] = {}
    for block in nodes:
        for node in block:
            if node.type not in chosen or _words(node, kinds[node.type]) < settings.least_words:
                continue
            keys.append(node.key)
            types.append(schema.type_codes[node.type])
            said = {known.setdefault(value, len(known)) for value in _keywords(node, kinds[node.type])}
            columns.extend(sorted(said))
            starts.append(len(columns))
    shape = len(keys), len(known)
    cells = np.ones(len(columns), dtype=np.float32)
    values = csr_array((cells, np.array(columns, dtype=np.int32), np.array(starts, dtype=np.int64)), shape=shape)
    shared = np.asarray(values.sum(axis=0)).ravel()
    return TakingPart(np.array(keys, dtype=np.int32), np.array(types, dtype=np.int16), values[:, shared <= SHARED_BY])


def signals_of(part: TakingPart, matrices: Mapping[str, KindMatrix]) -> list[Signal]:
    """Return the signals: content, title, fields that have vectors of their own, and topics (keywords).

    `matrices` are the vectors by kind. Content is the document without relations where there are such vectors. A node
    has one vector of each of these kinds at most.
    """
    content = DOCUMENT if DOCUMENT in matrices else WHOLE
    kinds = {CONTENT: content, TITLE: NAME} | {kind: kind for kind in sorted(matrices) if kind.startswith(FIELD)}
    signals: list[Signal] = [
        _of_vectors(name, part.keys, matrices[kind]) for name, kind in kinds.items() if kind in matrices
    ]
    told = np.flatnonzero(np.diff(part.values.indptr))
    signals.append(ValueSignal(TOPICS, part.keys[told], part.values[told]))
    return [signal for signal in signals if len(signal.keys) > 1]


def _of_vectors(name: str, keys: Keys, matrix: KindMatrix) -> VectorSignal:
    there = keys[np.isin(keys, matrix.keys)]
    return VectorSignal(name, there, matrix.rows, np.searchsorted(matrix.keys, there))


def _words(node: Node, kinds: Mapping[str, str]) -> int:
    return sum(len(field_text(value).split()) for name, value in node.fields.items() if kinds.get(name) == "text")


def _keywords(node: Node, kinds: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    for name, value in node.fields.items():
        if kinds.get(name) == "keyword":
            items = value if isinstance(value, list) else [value]
            yield from ((name, text) for item in items if (text := str(item).strip().casefold()))
