"""The type that most descriptions are of: what *something* means, where no word says a type."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from search.domain.vector_kinds import IN_MEMORY, PROSE
from search.interfaces import NodeStore, VectorIndex

_MOST = 0.5
"""Least part of all nodes whose prose has vectors that are of the type."""


def described_type(vectors: VectorIndex | None, nodes: NodeStore, answerable: Collection[int]) -> int | None:
    """Return the code of the answerable type of most nodes whose prose has vectors; None if none has more than half.

    A shop describes what it sells, a collection of papers its papers. A release without vectors of prose does not
    tell. Of a large one the first `IN_MEMORY` vectors are counted.
    """
    if vectors is None or PROSE not in vectors.kinds:
        return None
    keys = np.unique(vectors.matrix(PROSE).keys[:IN_MEMORY])
    counts = np.bincount(nodes.types(keys)) if len(keys) else np.zeros(1, dtype=np.int64)
    code = int(counts.argmax())
    return code if counts[code] > _MOST * counts.sum() and code in answerable else None
