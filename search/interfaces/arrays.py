"""Types of arrays that tools give and take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Keys = NDArray[np.int32]
VectorKind = str
"""A kind listed in `search.domain.vector_kinds`; each vector set has some of them."""
