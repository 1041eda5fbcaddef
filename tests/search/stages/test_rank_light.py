"""The learned ranker's order, what it leaves alone, and what moved a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from search.adapters import adjacency_memmap, mentions_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.mentions_memmap import MemmapMentions
from search.adapters.text_bm25 import Bm25Index, Document, build
from search.domain.conditions import CheckedConditions
from search.domain.errors import SearchCancelled, StageError
from search.domain.fusion import Fusion
from search.domain.graph import NodeType, Schema
from search.domain.logistic import Logistic
from search.domain.question import Question
from search.domain.ranking import by_key
from search.domain.signals import Reranked, signals_of
from search.domain.trace import Limit
from search.domain.trust import Trust
from search.interfaces import Vectors
from search.stages.rank_light import LightRank
from tests.graphs import edge_arrays
from tests.rankings import ranked
from tests.search.stages.doubles import Cosines

SCHEMA = Schema((NodeType("film"), NodeType("person")), (), ())
WHO = Question("who?", k=2)
LISTS = {"bm25": ranked({1: 9.0, 2: 8.0, 3: 7.0}), "vss": ranked({4: 0.9, 1: 0.8})}
FUSION = Fusion.of(LISTS, {"bm25": 1.0, "vss": 1.0}, 3.0, by_key, trust={"graph": Trust(2, "weak", 0.3)})
"""The order is 1, 4, 2, 3."""


class Linear:
    """Adds up weighted signals (interfaces.Ranker); what is missing counts as 0."""

    name = "ranker-1"

    def __init__(
        self, weights: Mapping[str, float], encoder: str = "table@1", calibration: Logistic | None = None
    ) -> None:
        self.encoder = encoder
        self.calibration = calibration
        self.signals = tuple(weights)
        self._weights = np.array(list(weights.values()))

    def answer_types(self, text: str, vector: Vectors) -> Mapping[str, float]:
        return {"person": 0.9, "film": 0.1}

    def scores(self, signals: NDArray[np.float32]) -> NDArray[np.float64]:
        total: NDArray[np.float64] = self.contributions(signals).sum(axis=1)
        return total

    def contributions(self, signals: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.nan_to_num(signals.astype(np.float64)) * self._weights


class Shelf:
    """One ranker under one name (interfaces.Rankers)."""

    def __init__(self, ranker: Linear) -> None:
        self._ranker = ranker
        self.asked: list[tuple[str, int]] = []

    def get(self, artifact: str, fold: int = -1) -> Linear:
        self.asked.append((artifact, fold))
        if artifact != self._ranker.name:
            raise StageError("rerank", f"there is no trained part {artifact} on this machine", permanent=True)
        return self._ranker


@pytest.fixture
def stage(tmp_path: Path) -> LightRank:
    """A ranker over eight nodes without edges, which prefers persons (odd keys)."""
    none = np.empty(0, dtype=np.int32)
    types = np.arange(8, dtype=np.int16) % 2
    adjacency_memmap.build(
        tmp_path, nodes=8, types=types, relations=0, edges=edge_arrays(source=none, relation=none, target=none)
    )
    for name in ("bm25", "mentions"):
        (tmp_path / name).mkdir()
    build(tmp_path / "bm25", (Document(f"node {key}") for key in range(8)), types)
    mentions_memmap.build(tmp_path / "mentions", [(key, f"node {key}", False) for key in range(8)])
    cosines = Cosines({"document+relations": {"who?": {}}})
    ranker = Linear({"type:probability": 10.0, "list:vss:score": 1.0, "lists": 0.0})
    return LightRank(
        rankers=Shelf(ranker), encoder=cosines, vectors=cosines, adjacency=MemmapAdjacency(tmp_path, SCHEMA),
        mentions=MemmapMentions(tmp_path / "mentions"), text=Bm25Index(tmp_path / "bm25", SCHEMA),
        light_artifact="ranker-1",
    )  # fmt: skip


def reranked(
    stage: LightRank, fusion: Fusion = FUSION, question: Question = WHO, limit: Limit | None = None
) -> Reranked:
    return stage(question, fusion, [], CheckedConditions(), limit or Limit())


def test_the_ranker_orders_the_union_of_the_lists(stage: LightRank) -> None:
    found = reranked(stage)
    # Persons first: 1 has the vector's score besides, then 3; then the films 4 (0.9) and 2.
    assert found.ranking.keys == (1, 3, 4, 2)
    light = found.rankings["light"].ranking
    assert light.scores == pytest.approx({1: 9.8, 3: 9.0, 4: 1.9, 2: 1.0})
    assert (found.status, found.trust) == ("ok", FUSION.trust)
    for key, score in found.ranking.scores.items():
        assert sum(share.contribution for share in found.leaves(key).values()) == pytest.approx(score)


def test_a_ranker_that_has_learned_it_says_how_probable_its_first_candidate_is(stage: LightRank) -> None:
    # The scores are 9.8, 9.0, 1.9 and 1.0: the margin is 0.8, and 5 · 0.8 - 4 is 0.
    weights = {"type:probability": 10.0, "list:vss:score": 1.0}
    told = replace(stage, rankers=Shelf(Linear(weights, calibration=Logistic({"margin": 5.0}, -4.0))))
    found = reranked(told)
    assert found.probability == pytest.approx(0.5)
    assert found.to_json()["probability"] == found.probability
    silent = reranked(stage)
    assert silent.probability is None
    assert "probability" not in silent.to_json()


def test_equal_scores_keep_the_order_of_the_given_list(stage: LightRank) -> None:
    level = replace(stage, rankers=Shelf(Linear({"lists": 0.0})))
    assert reranked(level).ranking.keys == FUSION.ranking.keys


def test_candidates_beyond_the_depth_follow_in_their_order(stage: LightRank) -> None:
    # Of each list only the first is ranked: 1 (a person), then 4; 2 and 3 follow as they were.
    assert reranked(replace(stage, light_depth=1)).ranking.keys == (1, 4, 2, 3)
    many = ranked({key: 1.0 - key / 1_000 for key in range(8)})
    found = reranked(replace(stage, light_depth=3), Fusion.of({"bm25": many}, {"bm25": 1.0}, 3.0, by_key))
    assert found.ranking.keys == (1, 0, 2, 3, 4, 5, 6, 7)


def test_the_strongest_signals_of_the_first_results_are_told(stage: LightRank) -> None:
    found = reranked(stage)
    told = [(one.name, one.contribution) for one in signals_of(found, 1)]
    assert told == [("type:probability", pytest.approx(9.0)), ("list:vss:score", pytest.approx(0.8))]
    assert signals_of(found, 1)[0].value == pytest.approx(0.9)
    assert signals_of(found, 4) == (), "two results are shown, and it is the third"
    outer = Fusion.of({"neural": ranked({4: 1.0}), "fused": found}, {"neural": 1.0, "fused": 1.0}, 2.0, by_key)
    assert signals_of(outer, 1) == signals_of(found, 1)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"light_artifact": ""}, "No ranker has been trained for this knowledge base"),
        ({"light_artifact": "ranker-2"}, "there is no trained part ranker-2 on this machine"),
        (
            {"rankers": Shelf(Linear({"lists": 1.0}, "other@2"))},
            "trained with other@2, and this release has vectors of",
        ),
    ],
)
def test_a_ranker_that_cannot_be_used_leaves_the_order_and_says_why(
    stage: LightRank, changed: dict[str, Any], why: str
) -> None:
    found = reranked(replace(stage, **changed))
    assert found.ranking.keys == FUSION.ranking.keys
    assert found.status == "degraded"
    assert why in found.detail
    for key, score in found.ranking.scores.items():
        assert sum(share.contribution for share in found.leaves(key).values()) == pytest.approx(score)


def test_the_ranker_of_a_fold_is_asked_for(stage: LightRank) -> None:
    shelf = Shelf(Linear({"lists": 1.0}))
    reranked(replace(stage, rankers=shelf, light_fold=2))
    assert shelf.asked == [("ranker-1", 2)]


def test_nothing_found_is_nothing_ranked_and_a_cancelled_search_stops(stage: LightRank) -> None:
    empty = Fusion.of({"bm25": ranked({})}, {"bm25": 1.0}, 3.0, by_key)
    assert reranked(stage, empty).ranking.keys == ()
    with pytest.raises(SearchCancelled):
        reranked(stage, limit=Limit(cancelled=lambda: True))
