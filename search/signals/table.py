"""The signals of some candidates as one table, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Keys

Column = NDArray[np.float32]
"""One signal of all candidates, shape (candidates,); NaN where it does not apply."""
Columns = Mapping[str, Column]
"""Name of a signal → its column."""


@dataclass(frozen=True, eq=False)
class SignalTable:
    """The signals of the candidates of one question: `keys` are sorted, each column has their shape."""

    keys: Keys
    columns: Columns

    def matrix(self, names: Sequence[str]) -> NDArray[np.float32]:
        """Return the signals with these names, shape (candidates, names); NaN for a signal that there is not."""
        missing = np.full(len(self.keys), np.nan, dtype=np.float32)
        return np.stack([self.columns.get(name, missing) for name in names], axis=1)
