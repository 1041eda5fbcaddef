"""Rankings are sorted, unique and may be empty; fusion is worked out by hand."""

import pytest

from search.domain.ranking import Candidate, Fusion, Ranking, rrf


def test_candidates_are_ordered_by_score() -> None:
    ranking = Ranking.of({1: 0.2, 2: 0.9, 3: 0.5})
    assert ranking.keys == (2, 3, 1)
    assert ranking.ranks == {2: 1, 3: 2, 1: 3}
    assert ranking.scores[3] == 0.5


def test_equal_scores_are_ordered_by_cosine_and_then_by_key() -> None:
    assert Ranking.of({4: 1.0, 3: 1.0, 2: 1.0, 1: 1.0}, ties={3: 0.1, 4: 0.9}).keys == (4, 3, 1, 2)


def test_a_negative_cosine_is_still_above_none_at_all() -> None:
    assert Ranking.of({1: 1.0, 2: 1.0}, ties={2: -0.5}).keys == (2, 1)


def test_a_cut_list_remembers_how_many_there_were() -> None:
    ranking = Ranking.of({1: 3.0, 2: 2.0, 3: 1.0}, depth=2)
    assert (ranking.keys, ranking.total, len(ranking)) == ((1, 2), 3, 2)
    assert (ranking.top(1).keys, ranking.top(1).total) == ((1,), 3)


def test_a_list_in_order_keeps_the_first_copy_of_a_key() -> None:
    assert Ranking.in_order([Candidate(1, 0.5), Candidate(2, 0.9), Candidate(1, 0.1)]).keys == (1, 2)


def test_a_ranking_may_be_empty() -> None:
    assert (len(Ranking()), Ranking().keys, list(Ranking())) == (0, (), [])


def test_a_trace_keeps_the_first_hundred_and_the_total() -> None:
    written = Ranking.of({key: -float(key) for key in range(250)}).to_json()
    assert (len(written["keys"]), written["keys"][:2], written["total"]) == (100, [0, 1], 250)


def test_reciprocal_ranks_start_at_one_and_an_absent_candidate_gets_nothing() -> None:
    lists = {"a": Ranking.of({1: 2.0, 2: 1.0}), "b": Ranking.of({2: 5.0, 3: 4.0})}
    assert rrf(lists, {"a": 2.0, "b": 1.0}, 5) == pytest.approx({1: 2 / 6, 2: 2 / 7 + 1 / 6, 3: 1 / 7})


def test_a_list_without_weight_takes_no_part() -> None:
    assert rrf({"a": Ranking.of({1: 1.0}), "b": Ranking.of({2: 1.0})}, {"a": 0.0, "b": 1.0}, 5) == {2: 1 / 6}


def test_the_contribution_is_the_lists_part_of_the_fused_score() -> None:
    lists = {"a": Ranking.of({1: 2.0}), "b": Ranking.of({1: 5.0, 2: 4.0})}
    weights = {"a": 2.0, "b": 1.0}
    fusion = Fusion(Ranking.of(rrf(lists, weights, 5)), lists, weights, 5)
    assert fusion.contribution("a", 1) + fusion.contribution("b", 1) == pytest.approx(fusion.ranking.scores[1])
    assert fusion.contribution("a", 2) == 0.0
