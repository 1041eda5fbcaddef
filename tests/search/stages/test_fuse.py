"""Weighted reciprocal ranks, by hand."""

import dataclasses
from typing import Any

import pytest

from search.domain.linking import GraphRanking
from search.domain.plan import Risk
from search.domain.ranking import Ranking
from search.stages.fuse import Fuse, Merge

TEXT = Ranking.of({10: 0.9, 11: 0.8, 12: 0.7})


def graph(*keys: int, n_cand: int | None = None, risk: Risk = "normal", ties: Any = None) -> GraphRanking:
    ranking = Ranking.of({key: 1.0 - place / 100 for place, key in enumerate(keys)})
    return GraphRanking(ranking, dict.fromkeys(keys, 0), len(keys) if n_cand is None else n_cand, risk, ties or {})


def test_static_fusion_adds_the_two_shares() -> None:
    fusion = Fuse(method="static", k=2.0, weight=0.3)(graph(12, 20), TEXT)
    expected = {12: 0.3 / 3 + 0.7 / 5, 20: 0.3 / 4, 10: 0.7 / 3, 11: 0.7 / 4}
    assert fusion.ranking.scores == pytest.approx(expected)
    assert fusion.ranking.keys == (12, 10, 11, 20)
    assert (fusion.bucket, fusion.risk) == ("", "")


def test_dynamic_fusion_weighs_by_bucket_and_risk() -> None:
    fusion = Fuse()(graph(12, 20, risk="normal"), TEXT)
    # 2 candidates: 2.0; normal: 1.25; k = 5.
    assert fusion.weights == {"graph": 2.5, "text": 1.0}
    assert fusion.ranking.scores == pytest.approx({12: 2.5 / 6 + 1 / 8, 20: 2.5 / 7, 10: 1 / 6, 11: 1 / 7})
    assert (fusion.bucket, fusion.risk, fusion.method) == ("[1,10]", "normal", "dynamic")


@pytest.mark.parametrize(
    ("n_cand", "bucket", "weight"),
    [(1, "[1,10]", 2.0), (10, "[1,10]", 2.0), (11, "[11,50]", 1.6), (50, "[11,50]", 1.6), (51, "[51,100]", 1.4),
     (100, "[51,100]", 1.4), (101, "[101,500]", 1.0), (500, "[101,500]", 1.0), (501, ">500", 0.5)],
)  # fmt: skip
def test_the_number_of_candidates_chooses_the_bucket(n_cand: int, bucket: str, weight: float) -> None:
    fusion = Fuse(risk_multipliers=(0, 0, 1, 0))(graph(12, n_cand=n_cand), TEXT)
    assert (fusion.bucket, fusion.weights["graph"]) == (bucket, weight)


@pytest.mark.parametrize(
    ("risk", "multiplier"), [("no_trade", 0), ("weak", 0.5), ("normal", 1.25), ("aggressive", 1.5)]
)
def test_the_risk_level_multiplies(risk: Any, multiplier: float) -> None:
    fusion = Fuse(bucket_weights=(1, 1, 1, 1, 1))(graph(12, risk=risk), TEXT)
    assert fusion.weights["graph"] == multiplier


@pytest.mark.parametrize("method", ["static", "dynamic"])
def test_a_plan_that_is_almost_surely_right_is_not_overruled(method: str) -> None:
    sure = dataclasses.replace(graph(20, 12, 21), probability=0.95)
    fusion = Fuse(method=method)(sure, TEXT)
    # Mixed, 12 would be first: it is in both lists. Led, the graph's order stands, and the rest of the text follows.
    assert fusion.ranking.keys == (20, 12, 21, 10, 11)
    assert fusion.leads
    mixed = Fuse(method=method, lead=0.96)(sure, TEXT)
    assert mixed.ranking.keys[0] == 12
    assert not mixed.leads


def test_the_text_swaps_none_of_the_graphs_first_hundred() -> None:
    keys = tuple(range(1_000, 1_100))
    backwards = Ranking.of({key: float(key) for key in keys})
    led = Fuse(k=0.0)(dataclasses.replace(graph(*keys), probability=1.0), backwards)
    assert led.ranking.keys == keys


def test_a_graph_whose_weight_is_nothing_does_not_lead() -> None:
    sure = dataclasses.replace(graph(20, risk="no_trade"), probability=1.0)
    assert Fuse()(sure, TEXT).ranking.keys == (10, 11, 12)


@pytest.mark.parametrize("method", ["static", "dynamic"])
def test_a_plan_that_leaves_much_to_the_text_does_not_lead_however_sure_it_is(method: str) -> None:
    sure = dataclasses.replace(graph(20, 21, 12, risk="weak"), probability=1.0)
    fusion = Fuse(method=method)(sure, TEXT)
    assert not fusion.leads
    assert fusion.ranking.keys[0] == 12


@pytest.mark.parametrize("method", ["static", "dynamic"])
def test_without_candidates_the_texts_list_stands(method: str) -> None:
    fusion = Fuse(method=method, weight=1.0)(GraphRanking(), TEXT)
    assert fusion.ranking.keys == (10, 11, 12)
    assert fusion.weights == {"graph": 0.0, "text": 1.0}


def test_a_graph_that_is_not_traded_adds_no_candidate() -> None:
    assert Fuse()(graph(20, risk="no_trade"), TEXT).ranking.keys == (10, 11, 12)


def test_equal_scores_are_ordered_by_the_questions_cosine_then_by_key() -> None:
    text = Ranking.of({1: 1.0})
    weights: Any = {"bucket_weights": (1, 1, 1, 1, 1), "risk_multipliers": (1, 1, 1, 1)}
    assert Fuse(**weights)(graph(2, ties={2: 0.3}), text).ranking.keys == (2, 1)
    assert Fuse(**weights)(graph(2), text).ranking.keys == (1, 2)


def test_the_contributions_add_up_to_the_fused_score() -> None:
    fusion = Fuse()(graph(12, 20, 11), TEXT)
    for key, score in fusion.ranking.scores.items():
        assert sum(fusion.contribution(name, key) for name in ("graph", "text")) == pytest.approx(score)


def test_lists_of_text_are_merged_with_equal_weights() -> None:
    fusion = Merge(k=60.0)({"bm25": Ranking.of({1: 3.0, 2: 2.0}), "vss": Ranking.of({2: 0.9, 3: 0.8})})
    assert fusion.ranking.scores == pytest.approx({1: 1 / 61, 2: 1 / 62 + 1 / 61, 3: 1 / 62})
    assert fusion.ranking.keys == (2, 1, 3)
