"""Vectors of short texts: words, phrases of the schema, and plans in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from search.interfaces import Encoder, Vectors


@dataclass(frozen=True)
class TextVectors:
    """The vectors of short texts by one encoder. This object caches nothing; the encoder of a search does."""

    encoder: Encoder

    def learn(self, texts: Iterable[str]) -> None:
        """Compute in one batch the vectors of the texts that the encoder has not cached."""
        self.encoder.encode(list(dict.fromkeys(texts)))

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text, shape (len(texts), dimensions)."""
        if not texts:
            return np.zeros((0, self.encoder.dimensions), dtype=np.float32)
        return self.encoder.encode(texts)
