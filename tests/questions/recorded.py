"""Vectors that an encoder made, kept by a digest of their texts: an encoder that needs no model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from search.interfaces import Encoder, Vectors

FILE = Path(__file__).with_name("vectors.npz")
DIGEST = 8
"""Bytes of a digest."""


class Recorded:
    """The encoder that was recorded in a file (interfaces.Encoder)."""

    def __init__(self, path: Path = FILE) -> None:
        with np.load(path) as kept:
            self.name = str(kept["name"])
            rows = kept["vectors"].astype(np.float32)
            self._known = dict(zip(kept["digests"].tolist(), rows, strict=True))
        for row in rows:
            row /= np.linalg.norm(row)
        self.dimensions = rows.shape[1]

    def knows(self, text: str) -> bool:
        """Whether the vector of a text was recorded."""
        return digest(text) in self._known

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text. Raises LookupError for a text that was not recorded."""
        if missing := [text for text in texts if digest(text) not in self._known]:
            raise LookupError(f"no vector is recorded of {missing[0]!r}; run: python -m tests.questions.record")
        found = [self._known[digest(text)] for text in texts]
        return np.array(found, dtype=np.float32).reshape(-1, self.dimensions)


class Recorder:
    """Notes the vectors of an encoder, which is made when a text was not recorded before; what was, is taken over."""

    def __init__(self, encoder: Callable[[], Encoder], path: Path = FILE) -> None:
        self._encoder = cache(encoder)
        self._before = Recorded(path) if path.exists() else None
        known = self._before or self._encoder()
        self.name, self.dimensions = known.name, known.dimensions
        self.noted: dict[int, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text."""
        if new := [text for text in dict.fromkeys(texts) if digest(text) not in self.noted]:
            before = self._before
            known = [text for text in new if before is not None and before.knows(text)]
            if before is not None and known:
                self._note(known, before.encode(known))
            if rest := [text for text in new if text not in known]:
                self._note(rest, self._encoder().encode(rest))
        return np.array([self.noted[digest(text)] for text in texts], dtype=np.float32).reshape(-1, self.dimensions)

    def _note(self, texts: Sequence[str], rows: Vectors) -> None:
        self.noted |= {digest(text): row for text, row in zip(texts, rows, strict=True)}

    def write(self, path: Path = FILE) -> None:
        """Write what was noted: whole numbers from -127 to 127, of which only the direction counts."""
        digests = sorted(self.noted)
        rows = np.array([self.noted[one] for one in digests])
        whole = np.round(127 * rows / np.abs(rows).max(axis=1, keepdims=True)).astype(np.int8)
        np.savez(path, name=self.name, digests=np.array(digests, dtype=np.uint64), vectors=whole)


def digest(text: str) -> int:
    """Return the digest of a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=DIGEST).digest(), "big")
