"""A batch that does not fit is computed in parts, each once, and what is too large alone is a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from search.domain.errors import StageError
from search.neural.memory import within_memory

TOLD = ("CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)",
        "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")  # fmt: skip


def lacking(kind: int) -> RuntimeError:
    """Return an error as torch raises it where memory is lacking."""
    return torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB") if not kind else RuntimeError(
        TOLD[kind - 1])  # fmt: skip


@given(st.integers(0, 60), st.integers(1, 70), st.integers(0, 3))
def test_every_item_is_computed_once_in_parts_that_fit(count: int, room: int, kind: int) -> None:
    done: list[int] = []

    def compute(part: Sequence[int]) -> None:
        if len(part) > room:
            raise lacking(kind)
        done.extend(part)

    fitting = within_memory(range(count), compute, "rerank", "one document")
    assert done == list(range(count))
    assert fitting <= room or not count


def test_what_fits_is_found_by_halving() -> None:
    asked: list[int] = []

    def compute(part: Sequence[str]) -> None:
        asked.append(len(part))
        if len(part) > 3:
            raise lacking(0)

    assert within_memory("abcdefghij", compute, "rerank", "one document") == 3
    assert asked == [10, 5, 3, 3, 3, 1]


def test_an_item_that_is_too_large_alone_is_a_sentence_and_other_errors_stay_what_they_are() -> None:
    def never(part: Sequence[int]) -> None:
        raise lacking(0)

    with pytest.raises(StageError, match="the memory of the device does not suffice for one document") as caught:
        within_memory([1, 2, 3], never, "rerank", "one document")
    assert (caught.value.stage, caught.value.permanent) == ("rerank", False)

    def wrong(part: Sequence[int]) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        within_memory([1, 2, 3], wrong, "rerank", "one document")
