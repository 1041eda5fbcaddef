"""Rankings side by side, worked out by hand; the correlation against scipy."""

from __future__ import annotations

import random

import pytest
from scipy.stats import kendalltau

from search.domain.rank_table import Agreement, RankedNode, agreements, kendall, rank_table


def test_each_node_stands_once_in_the_order_of_its_best_rank() -> None:
    assert rank_table([["a", "b", "c"], ["b", "d"]]) == (
        RankedNode("a", (1, None)),
        RankedNode("b", (2, 1)),
        RankedNode("d", (None, 2)),
        RankedNode("c", (3, None)),
    )
    assert rank_table([["a"], ["a"]])[0].lists == (0, 1)
    assert rank_table([[], []]) == ()


def test_overlap_counts_the_first_ten_and_the_correlation_all_that_are_common() -> None:
    # Common are b, c and e. In the second list they stand at 1, 4 and 2: of three pairs (b, c) and (b, e) keep their
    # order and (c, e) does not, so the correlation is (2 - 1) / 3.
    first, second = ["a", "b", "c", "e"], ["b", "e", "x", "c"]
    assert agreements([first, second]) == (Agreement(0, 1, 3, 4, 3, 1 / 3),)
    assert agreements([first, second], top=2) == (Agreement(0, 1, 1, 2, 3, 1 / 3),)
    assert agreements([first, second], top=2)[0].overlap == 0.5


def test_a_long_list_beside_a_short_one_is_measured_by_the_first_ten() -> None:
    letters = list("abcdefghijklmno")
    [found] = agreements([letters, ["c", "a", "o"]])
    # o is rank 15 of the first list: common, but not in the first ten.
    assert (found.same, found.depth, found.overlap, found.common) == (2, 10, 0.2, 3)
    assert found.correlation == pytest.approx(1 / 3)


def test_lists_that_share_nothing_have_no_correlation_and_empty_ones_no_overlap() -> None:
    [apart] = agreements([["a", "b"], ["c"]])
    assert (apart.overlap, apart.correlation) == (0.0, None)
    [one] = agreements([["a"], ["a"]])
    assert (one.overlap, one.correlation) == (1.0, None)
    [empty] = agreements([[], []])
    assert (empty.overlap, empty.correlation) == (None, None)


def test_four_lists_have_six_pairs_in_their_order() -> None:
    pairs = [(one.first, one.second) for one in agreements([["a"]] * 4)]
    assert pairs == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize("seed", range(5))
def test_the_correlation_is_that_of_scipy(seed: int) -> None:
    ranks = random.Random(seed).sample(range(20), 12)
    assert kendall(ranks) == pytest.approx(kendalltau(range(12), ranks).statistic)
