"""Rankings are sorted, unique and may be empty; fusion is worked out by hand."""

from collections.abc import Sequence

import pytest

from search.domain.fusion import Fusion, rrf
from search.domain.ranking import Candidate, Ranking
from tests.rankings import ranked


def test_candidates_are_ordered_by_score() -> None:
    ranking = ranked({1: 0.2, 2: 0.9, 3: 0.5})
    assert ranking.keys == (2, 3, 1)
    assert ranking.ranks == {2: 1, 3: 2, 1: 3}
    assert ranking.scores[3] == 0.5


def test_equal_scores_are_ordered_by_cosine_and_then_by_key() -> None:
    assert ranked({4: 1.0, 3: 1.0, 2: 1.0, 1: 1.0}, cosines={3: 0.1, 4: 0.9}).keys == (4, 3, 1, 2)


def test_a_negative_cosine_is_still_above_none_at_all() -> None:
    assert ranked({1: 1.0, 2: 1.0}, cosines={2: -0.5}).keys == (2, 1)


def test_cosines_are_asked_for_once_and_only_for_what_is_level() -> None:
    asked: list[list[int]] = []

    def cosines(keys: Sequence[int]) -> dict[int, float]:
        asked.append(sorted(keys))
        return {key: float(key) for key in keys}

    assert Ranking.of({1: 1.0, 2: 1.0, 3: 0.5, 4: 0.2, 5: 0.2}, cosines).keys == (2, 1, 3, 5, 4)
    assert Ranking.of({1: 1.0, 2: 0.5}, cosines).keys == (1, 2)
    # The group at the cut counts whole, the one behind it not at all.
    assert Ranking.of({1: 1.0, 2: 0.7, 3: 0.7, 4: 0.2, 5: 0.2}, cosines, depth=2).keys == (1, 3)
    assert asked == [[1, 2, 4, 5], [2, 3]]


def test_a_list_is_read_back_by_keys_or_by_the_ids_of_a_record() -> None:
    ranking = ranked({3: 2.0, 1: 1.0})
    written = ranking.to_json()
    assert Ranking.from_json(written) == ranking
    recorded = {"total": 2, "ids": ["c", "a"], "scores": [2.0, 1.0]}
    assert Ranking.from_json(recorded, {"a": 1, "b": 2, "c": 3}) == ranking


def test_a_cut_list_remembers_how_many_there_were() -> None:
    ranking = ranked({1: 3.0, 2: 2.0, 3: 1.0}, depth=2)
    assert (ranking.keys, ranking.total, len(ranking)) == ((1, 2), 3, 2)
    assert (ranking.top(1).keys, ranking.top(1).total) == ((1,), 3)


def test_a_list_in_order_keeps_the_first_copy_of_a_key() -> None:
    assert Ranking.in_order([Candidate(1, 0.5), Candidate(2, 0.9), Candidate(1, 0.1)]).keys == (1, 2)


def test_a_ranking_may_be_empty() -> None:
    assert (len(Ranking()), Ranking().keys, list(Ranking())) == (0, (), [])


def test_a_trace_keeps_the_first_hundred_and_the_total() -> None:
    written = ranked({key: -float(key) for key in range(250)}).to_json()
    assert (len(written["keys"]), written["keys"][:2], written["total"]) == (100, [0, 1], 250)


def test_reciprocal_ranks_start_at_one_and_an_absent_candidate_gets_nothing() -> None:
    lists = {"a": ranked({1: 2.0, 2: 1.0}), "b": ranked({2: 5.0, 3: 4.0})}
    assert rrf(lists, {"a": 2.0, "b": 1.0}, 5) == pytest.approx({1: 2 / 6, 2: 2 / 7 + 1 / 6, 3: 1 / 7})


def test_a_list_without_weight_takes_no_part() -> None:
    assert rrf({"a": ranked({1: 1.0}), "b": ranked({2: 1.0})}, {"a": 0.0, "b": 1.0}, 5) == pytest.approx({2: 1 / 6})


def test_the_contribution_is_the_lists_part_of_the_fused_score() -> None:
    lists = {"a": ranked({1: 2.0}), "b": ranked({1: 5.0, 2: 4.0})}
    weights = {"a": 2.0, "b": 1.0}
    fusion = Fusion(ranked(rrf(lists, weights, 5)), lists, weights, 5)
    assert fusion.contribution("a", 1) + fusion.contribution("b", 1) == pytest.approx(fusion.ranking.scores[1])
    assert fusion.contribution("a", 2) == 0.0
