"""Writes an array to a NumPy file in pieces, so that it never lies in memory as a whole."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import DTypeLike, NDArray


class ArrayWriter:
    """Writes numbers of one type one after the other into `path`. Use it in a `with` statement."""

    def __init__(self, path: Path, kind: DTypeLike) -> None:
        self._kind = np.dtype(kind)
        self._file = path.open("wb")
        self._size = 0
        self._head()

    def add(self, numbers: NDArray[np.number]) -> None:
        """Write further numbers."""
        numbers.astype(self._kind, copy=False).tofile(self._file)
        self._size += len(numbers)

    def _head(self) -> None:
        """Write the head, which NumPy pads so that it has one length for every size."""
        described = {
            "descr": np.lib.format.dtype_to_descr(self._kind),
            "fortran_order": False,
            "shape": (self._size,),
        }
        np.lib.format.write_array_header_1_0(self._file, described)

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.seek(0)
        self._head()
        self._file.close()
