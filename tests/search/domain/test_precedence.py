"""Weights that fix the order of a fusion by reciprocal ranks."""

from __future__ import annotations

import pytest

from search.domain.precedence import behind, without_reordering


def test_a_list_comes_behind_the_last_of_another() -> None:
    # Three candidates of weight 1 at k = 60 get 1/61, 1/62, 1/63; the next one would get 1/64.
    weight = behind(1.0, 3)
    assert weight / 61 == pytest.approx(1 / 64)
    assert weight / 61 < 1 / 63


@pytest.mark.parametrize(("length", "k"), [(1, 60.0), (7, 60.0), (100, 3.0)])
def test_a_weaker_list_cannot_change_the_order_of_the_first(length: int, k: float) -> None:
    most = without_reordering(2.0, length, k) / (k + 1)
    assert most == pytest.approx(2 / (k + length) - 2 / (k + length + 1))
    assert all(2 / (k + rank) - 2 / (k + rank + 1) > most for rank in range(1, length))
