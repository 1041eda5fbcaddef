"""Sets of nodes as arrays: the same whether they are looked up in an array over all nodes or by sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.key_sets import different, distinct, places_in, ranked

keys = st.lists(st.integers(0, 9), max_size=20)
nodes = pytest.mark.parametrize("nodes", [10, 1_000_000])
"""Of ten nodes every set is large, of a million none is."""


@nodes
@given(several=keys)
def test_different_keys_are_sorted(nodes: int, several: list[int]) -> None:
    assert distinct(np.array(several, dtype=np.int32), nodes).tolist() == sorted(set(several))
    assert different(np.array(several, dtype=np.int64)).tolist() == sorted(set(several))


@nodes
@given(several=keys, wanted=keys)
def test_the_place_of_a_key_is_that_in_the_set_or_none(nodes: int, several: list[int], wanted: list[int]) -> None:
    ordered = sorted(set(several))
    found = places_in(np.array(ordered, dtype=np.int32), np.array(wanted, dtype=np.int64), nodes)
    assert found.tolist() == [ordered.index(key) if key in ordered else -1 for key in wanted]


@given(several=st.lists(st.sampled_from((-3, 0, 1, 2, 7, 2.5, 1e300, -1e300, 40))))
def test_numbers_are_ranked_whether_they_are_whole_and_close_or_not(several: list[float]) -> None:
    for dtype in (np.float64, np.complex128):
        values, positions = ranked(np.array(several, dtype=dtype))
        ordered = sorted(set(several))
        assert values.tolist() == ordered
        assert positions.tolist() == [ordered.index(value) for value in several]
