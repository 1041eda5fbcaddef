"""Batches that a device's memory does not hold are computed in smaller parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from search.domain.errors import StageError

T = TypeVar("T")
_TOLD = ("out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "DefaultCPUAllocator: can't allocate memory")
"""What errors of torch say that are about memory, but are of no class of their own."""


def out_of_memory(error: RuntimeError) -> bool:
    """Return whether torch lacked memory on a GPU or a CPU."""
    return isinstance(error, torch.OutOfMemoryError) or any(words in str(error) for words in _TOLD)


def within_memory(items: Sequence[T], compute: Callable[[Sequence[T]], None], stage: str, one: str) -> int:
    """Compute all items, halving the parts as often as the device's memory does not suffice.

    Return the length of the parts that fitted. `compute` keeps its own results, and may be called again for the same
    items. Raises a StageError of the stage if the memory does not even suffice for `one` of the items, which completes
    its sentence, and the other errors of `compute`.
    """
    done, size = 0, max(1, len(items))
    while done < len(items):
        part = items[done : done + size]
        try:
            compute(part)
            done += len(part)
            continue
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            if len(part) == 1:
                reason = f"the memory of the device does not suffice for {one}"
                raise StageError(stage, reason, permanent=False) from error
        # Outside of the handler: the traceback of the error holds the tensors of the pass that failed.
        release_memory()
        size = (len(part) + 1) // 2
    return size


def release_memory() -> None:
    """Return the memory to the GPU that torch keeps for later tensors. Without a GPU in use, it does nothing."""
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
