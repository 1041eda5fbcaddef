"""Vectors of short texts: words, phrases of the schema, wordings of plans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from search.interfaces import Encoder, Vectors


@dataclass(frozen=True)
class TextVectors:
    """An encoder's vectors of many short texts. It remembers nothing: the encoder of a search does."""

    encoder: Encoder

    def learn(self, texts: Iterable[str]) -> None:
        """Have those texts that the encoder does not remember computed in one batch."""
        self.encoder.encode(list(dict.fromkeys(texts)))

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, shape (len(texts), dimensions)."""
        if not texts:
            return np.zeros((0, self.encoder.dimensions), dtype=np.float32)
        return self.encoder.encode(texts)
