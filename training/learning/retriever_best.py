"""The best pass over the folds of a retriever's training, and how a checkpoint keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load, save
from torch import Tensor

Ranks = list[NDArray[np.int64]]
Weights = dict[str, NDArray[np.float16]]


@dataclass(eq=False)
class Best:
    """The best pass of the folds so far: its number from 1, its mean reciprocal rank, its ranks, and its weights."""

    passes: int = 0
    figure: float = -1.0
    ranks: Ranks = field(default_factory=list)
    weights: list[Weights] = field(default_factory=list)


def bytes_tensor(content: bytes) -> Tensor:
    """Return bytes as a tensor, which `torch.save` keeps."""
    return torch.frombuffer(bytearray(content), dtype=torch.uint8)


def kept_of(best: Best) -> dict[str, Any]:
    """Return the best pass in a form that `torch.save` writes and `best_of` reads."""
    return {
        "passes": best.passes, "figure": best.figure, "ranks": [torch.from_numpy(one) for one in best.ranks],
        "weights": [bytes_tensor(save(weights)) for weights in best.weights],
    }  # fmt: skip


def best_of(kept: dict[str, Any]) -> Best:
    """Return the best pass that `kept_of` wrote; an empty one if none was kept."""
    if "passes" not in kept:
        return Best()
    weights = [load(one.numpy().tobytes()) for one in kept["weights"]]
    return Best(kept["passes"], kept["figure"], [one.numpy() for one in kept["ranks"]], weights)
