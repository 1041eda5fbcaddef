"""Which types a base describes: what a question most likely asks for whose words say no type.

A shop describes what it sells, a collection of papers its papers; of colours, countries and persons there is little
more than the name, so words that a plan leaves to the texts are hardly said of these.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import Schema
from search.interfaces import NodeStore
from search.text import field_text, is_link, is_prose

_SAMPLE = 50
"""Values of a field that are read, evenly spaced over its type's nodes."""
_MOST = 0.5
"""Least part of all words of prose that is about one type where that type is what *something* means."""

Words = NDArray[np.float64]


def described(nodes: NodeStore, schema: Schema) -> Words:
    """Return for each node type about how many words of prose its nodes have together, shape (types,).

    Prose is what `search.text.is_prose` takes for it. Fields without text are not read. Raises StageError.
    """
    found = np.zeros(len(schema.node_types))
    for code, kind in enumerate(schema.node_types):
        for field in kind.fields:
            if field.kind != "text" or not field.coverage:
                continue
            texts = [field_text(value) for value in nodes.values(kind.name, field.name, _SAMPLE) if not is_link(value)]
            counts = [len(text.split()) if is_prose(text) else 0 for text in texts]
            found[code] += field.coverage * float(np.mean(counts)) if counts else 0.0
    return found


def described_type(words: Words, answerable: Collection[int]) -> int | None:
    """Return the code of the answerable type that more than half of all words of prose are about; None without one."""
    code = int(words.argmax()) if words.size else 0
    return code if words.size and words[code] > _MOST * words.sum() and code in answerable else None
