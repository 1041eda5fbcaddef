"""Vectors of short texts, each computed once a process: words, phrases of the schema, wordings of plans."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Encoder, Vectors


@dataclass
class TextVectors:
    """A bounded memory of an encoder's vectors; the least recently used are forgotten. Safe to share by threads."""

    encoder: Encoder
    capacity: int = 50_000
    _known: OrderedDict[str, NDArray[np.float32]] = field(default_factory=OrderedDict, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def learn(self, texts: Iterable[str]) -> None:
        """Encode those texts that are not known yet, in one batch."""
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if not new:
            return
        rows = self.encoder.encode(new)
        with self._lock:
            for text, row in zip(new, rows, strict=True):
                self._known[text] = row
            while len(self._known) > self.capacity:
                self._known.popitem(last=False)

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, shape (len(texts), dimensions)."""
        if not texts:
            return np.zeros((0, self.encoder.dimensions), dtype=np.float32)
        self.learn(texts)
        rows = []
        with self._lock:
            for text in texts:
                row = self._known.get(text)
                if row is not None:
                    self._known.move_to_end(text)
                rows.append(row)
        lost = [text for text, row in zip(texts, rows, strict=True) if row is None]
        again = iter(self.encoder.encode(lost)) if lost else iter(())
        return np.stack([next(again) if row is None else row for row in rows])
