"""Inner products of a vector with all rows of a matrix in half precision; numpy has no such product."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from search.neural.threads import threads


def products(rows: NDArray[np.float16], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the inner product of each row with the vector, accurate to about 1/1000 for rows of unit length.

    `rows` may be a file mapped into memory (`mode="c"`, because torch refuses memory that is read-only); it is neither
    copied nor changed.
    """
    with torch.inference_mode(), threads(1):
        found: NDArray[np.float32] = (torch.from_numpy(rows) @ torch.from_numpy(vector).half()).float().numpy()
    return found
