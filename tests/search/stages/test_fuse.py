"""Weighted reciprocal ranks, by hand."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from search.domain.errors import DeadlineExceeded, StageError
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking
from search.domain.plan import Risk
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit
from search.domain.trust import Trust
from search.stages.fuse import Fuse, Merge
from tests.rankings import ranked
from tests.search.stages.doubles import Cosines

TEXT = ranked({10: 0.9, 11: 0.8, 12: 0.7})
WHO = Question("who?")


def graph(
    *keys: int, n_cand: int | None = None, risk: Risk = "normal", probability: float = 0.0, name: str = "graph"
) -> GraphRanking:
    ranking = ranked({key: 1.0 - place / 100 for place, key in enumerate(keys)})
    trust = Trust(len(keys) if n_cand is None else n_cand, risk, probability)
    return GraphRanking(ranking, trust, name=name)


def tools(cosines: Mapping[int, float] = {}) -> dict[str, Any]:
    known = Cosines({"document+relations": {"who?": cosines}})
    return {"encoder": known, "vectors": known}


def fuse(
    listed: GraphRanking, text: Ranking | Fusion = TEXT, cosines: Mapping[int, float] = {}, **options: Any
) -> Fusion:
    return Fuse(**options, **tools(cosines))(WHO, listed, text, Limit())


def test_static_fusion_adds_the_two_shares() -> None:
    fusion = fuse(graph(12, 20), method="static", k=2.0, weight=0.3)
    expected = {12: 0.3 / 3 + 0.7 / 5, 20: 0.3 / 4, 10: 0.7 / 3, 11: 0.7 / 4}
    assert fusion.ranking.scores == pytest.approx(expected)
    assert fusion.ranking.keys == (12, 10, 11, 20)
    assert (fusion.bucket, fusion.risk) == ("", "")


def test_dynamic_fusion_weighs_by_bucket_and_risk() -> None:
    fusion = fuse(graph(12, 20, risk="normal"), k=5.0)
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
    fusion = fuse(graph(12, n_cand=n_cand), risk_multipliers=(0, 0, 1, 0))
    assert (fusion.bucket, fusion.weights["graph"]) == (bucket, weight)


@pytest.mark.parametrize(
    ("risk", "multiplier"), [("no_trade", 0), ("weak", 0.5), ("normal", 1.25), ("aggressive", 1.5)]
)
def test_the_risk_level_multiplies(risk: Any, multiplier: float) -> None:
    fusion = fuse(graph(12, risk=risk), bucket_weights=(1, 1, 1, 1, 1))
    assert fusion.weights["graph"] == multiplier


def test_a_text_that_has_learned_counts_twice_and_takes_its_part_of_the_graphs_weight() -> None:
    learned = replace(Fusion.single("fields", TEXT), probability=0.75)
    fusion = fuse(graph(20, 12), learned, k=5.0)
    # 2.0 x 1.25 x (1 - 0.75) / 2.
    assert fusion.weights == {"graph": 0.3125, "text": 1.0}
    assert fusion.ranking.keys == (12, 10, 11, 20)
    assert fusion.trust["graph"].against == 0.75
    assert Trust.from_json(fusion.trust["graph"].to_json()) == fusion.trust["graph"]
    assert fuse(graph(20), learned, method="static", weight=0.6).weights["graph"] == 0.6
    led = fuse(graph(20, 12, 21, probability=0.95), learned)
    assert led.leads
    assert led.ranking.keys[:3] == (20, 12, 21)


@pytest.mark.parametrize("method", ["static", "dynamic"])
def test_a_plan_that_is_almost_surely_right_is_not_overruled(method: str) -> None:
    sure = graph(20, 12, 21, probability=0.95)
    fusion = fuse(sure, method=method)
    # Mixed, 12 would be first: it is in both lists. Led, the graph's order stands, and the rest of the text follows.
    assert fusion.ranking.keys == (20, 12, 21, 10, 11)
    assert fusion.leads
    mixed = fuse(sure, method=method, lead=0.96)
    assert mixed.ranking.keys[0] == 12
    assert not mixed.leads


@pytest.mark.parametrize(
    ("probability", "exact", "leads", "surely"),
    [(0.95, True, True, True), (0.9, True, True, True), (0.85, True, True, False), (0.6, True, False, False),
     (0.95, False, False, False)],
)  # fmt: skip
def test_to_be_called_almost_surely_right_takes_more_than_to_lead(
    probability: float, exact: bool, leads: bool, surely: bool
) -> None:
    listed = graph(20, 12, 21, probability=probability)
    fusion = fuse(replace(listed, trust=replace(listed.trust, exact=exact)))
    assert (fusion.leads, fusion.surely) == (leads, surely)
    # A plan that leaves a word over comes first as well: its own text has ordered its candidates.
    assert (fusion.ranking.keys[:3] == (20, 12, 21)) == (probability >= 0.7)
    recorded = fusion.to_json()
    assert Fusion.from_json(recorded).surely == surely
    # Before it was recorded, every plan that led was called so.
    assert Fusion.from_json({name: value for name, value in recorded.items() if name != "surely"}).surely == leads


def test_the_text_swaps_none_of_the_graphs_first_hundred() -> None:
    keys = tuple(range(1_000, 1_100))
    backwards = ranked({key: float(key) for key in keys})
    led = fuse(graph(*keys, probability=1.0), backwards, k=0.0)
    assert led.ranking.keys == keys


def test_a_graph_whose_weight_is_nothing_does_not_lead() -> None:
    sure = graph(20, risk="no_trade", probability=1.0)
    assert fuse(sure).ranking.keys == (10, 11, 12)


@pytest.mark.parametrize("method", ["static", "dynamic"])
def test_a_plan_that_leaves_much_to_the_text_does_not_lead_however_sure_it_is(method: str) -> None:
    sure = graph(20, 21, 12, risk="weak", probability=1.0)
    fusion = fuse(sure, method=method)
    assert not fusion.leads
    assert fusion.ranking.keys[0] == 12


@pytest.mark.parametrize("method", ["static", "dynamic"])
def test_without_candidates_the_texts_list_stands(method: str) -> None:
    fusion = fuse(GraphRanking.empty(), method=method, weight=1.0)
    assert fusion.ranking.keys == (10, 11, 12)
    assert fusion.weights == {"graph": 0.0, "text": 1.0}


def test_a_graph_that_is_not_traded_adds_no_candidate() -> None:
    assert fuse(graph(20, risk="no_trade")).ranking.keys == (10, 11, 12)


EVEN: dict[str, Any] = {"bucket_weights": (1, 1, 1, 1, 1), "risk_multipliers": (1, 1, 1, 1)}


def test_equal_scores_are_ordered_by_the_questions_cosine_whichever_list_holds_them() -> None:
    # 1 is the text's first, 2 the graph's first: level. Only the cosine of every key of every list can order them.
    text = ranked({1: 1.0})
    assert fuse(graph(2), text, {1: 0.9, 2: 0.3}, **EVEN).ranking.keys == (1, 2)
    assert fuse(graph(2), text, {1: 0.3, 2: 0.9}, **EVEN).ranking.keys == (2, 1)
    # The other way round: the smaller key is the graph's.
    assert fuse(graph(1), ranked({2: 1.0}), {1: 0.3, 2: 0.9}, **EVEN).ranking.keys == (2, 1)


def test_equal_scores_and_equal_cosines_are_ordered_by_key() -> None:
    assert fuse(graph(2), ranked({1: 1.0}), {1: 0.5, 2: 0.5}, **EVEN).ranking.keys == (1, 2)


def test_the_cosines_of_both_lists_are_kept_for_whoever_fuses_them_again() -> None:
    written = fuse(graph(20), cosines={10: 0.1, 11: 0.2, 20: 0.3}).to_json()
    assert written["rankings"]["graph"]["cosines"] == [0.3]
    assert written["rankings"]["text"]["cosines"] == [0.1, 0.2, None]


def test_fusion_ends_with_the_time_of_the_search() -> None:
    with pytest.raises(DeadlineExceeded):
        Fuse(**tools())(WHO, graph(20), TEXT, Limit.seconds(0))


def test_a_list_that_does_not_say_how_far_it_is_to_be_trusted_is_refused_by_its_name() -> None:
    with pytest.raises(TypeError):
        GraphRanking(ranked({20: 1.0}))  # type: ignore[call-arg]
    silent: Any = GraphRanking(ranked({20: 1.0}), None, name="pagerank")  # type: ignore[arg-type]
    refused = "cannot be joined with others: it does not say how far it is to be trusted"
    with pytest.raises(StageError, match=f"'pagerank' {refused}"):
        fuse(silent)
    bare: Any = ranked({20: 1.0})
    with pytest.raises(StageError, match="'Ranking' cannot be joined"):
        fuse(bare)


def test_a_list_with_a_name_of_its_own_is_fused_under_that_name() -> None:
    fusion = fuse(graph(20, name="pagerank"))
    assert list(fusion.rankings) == ["pagerank", "text"]
    assert fusion.leaves(20)["pagerank"].rank == 1


def test_the_contributions_add_up_to_the_fused_score() -> None:
    fusion = fuse(graph(12, 20, 11))
    for key, score in fusion.ranking.scores.items():
        assert sum(fusion.contribution(name, key) for name in ("graph", "text")) == pytest.approx(score)


def test_a_fused_list_of_text_is_fused_again_and_its_lists_are_the_leaves() -> None:
    text = Merge(k=1.0, **tools())(WHO, {"bm25": ranked({10: 3.0, 11: 2.0}), "vss": ranked({11: 0.9})}, Limit())
    fusion = fuse(graph(20), text, k=1.0, method="static", weight=0.5)
    # 11 is the text's first: 1/3 of words and 1/2 of vectors, so two fifths and three fifths of 0.5 / (1 + 1).
    shares = fusion.leaves(11)
    assert {name: share.contribution for name, share in shares.items()} == pytest.approx(
        {"graph": 0.0, "bm25": 0.1, "vss": 0.15}
    )
    assert (shares["vss"].path, shares["vss"].rank, shares["vss"].weight, shares["vss"].k) == (("text", "vss"), 1, 1, 1)
    assert fusion.fused(11)["text"].contribution == 0.25


def test_lists_of_text_are_merged_with_equal_weights() -> None:
    lists = {"bm25": ranked({1: 3.0, 2: 2.0}), "vss": ranked({2: 0.9, 3: 0.8})}
    fusion = Merge(k=60.0, **tools())(WHO, lists, Limit())
    assert fusion.ranking.scores == pytest.approx({1: 1 / 61, 2: 1 / 62 + 1 / 61, 3: 1 / 62})
    assert fusion.ranking.keys == (2, 1, 3)


def test_merged_lists_order_equal_sums_by_the_questions_cosine() -> None:
    lists = {"bm25": ranked({1: 3.0}), "vss": ranked({2: 0.9})}
    assert Merge(**tools({1: 0.2, 2: 0.9}))(WHO, lists, Limit()).ranking.keys == (2, 1)
    # Three lists in which two keys swap places: their sums differ by the order of addition alone.
    places = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
    several = {str(n): ranked({key: -float(place) for place, key in enumerate(keys)}) for n, keys in enumerate(places)}
    assert Merge(k=0.1, **tools({1: 0.1, 2: 0.2, 3: 0.3}))(WHO, several, Limit()).ranking.keys == (3, 2, 1)
