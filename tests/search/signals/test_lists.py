"""What a ranker sees of the lists, by hand."""

import math
from pathlib import Path

import numpy as np
import pytest

from search.adapters import adjacency_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.domain.conditions import CheckedConditions, Conditions
from search.domain.evidence import PlanShare
from search.domain.fusion import Fusion
from search.domain.graph import NodeType, Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Plan, Target
from search.domain.ranking import by_key
from search.domain.trust import Trust
from search.signals.lists import candidates, heads, list_signals
from search.signals.plans import plan_signals
from tests.graphs import edge_arrays
from tests.rankings import ranked

SCHEMA = Schema((NodeType("film"), NodeType("person")), (), ())
INNER = Fusion.of({"bm25": ranked({5: 8.0, 2: 4.0, 3: 2.0}), "vss": ranked({3: 0.5})}, {"bm25": 1, "vss": 1}, 1, by_key)
FUSION = Fusion.of({"graph": ranked({7: 1.0}), "text": INNER}, {"graph": 2.0, "text": 1.0}, 3.0, by_key,
                   trust={"graph": Trust(4, "normal", 0.8)}, leads=True)  # fmt: skip


@pytest.fixture
def adjacency(tmp_path: Path) -> MemmapAdjacency:
    """Eight nodes without edges; those with an even key are films."""
    none = np.empty(0, dtype=np.int32)
    types = np.arange(8, dtype=np.int16) % 2
    adjacency_memmap.build(
        tmp_path, nodes=8, types=types, relations=0, edges=edge_arrays(source=none, relation=none, target=none)
    )
    return MemmapAdjacency(tmp_path, SCHEMA)


def test_the_candidates_are_the_first_of_every_list(adjacency: MemmapAdjacency) -> None:
    assert candidates(heads(FUSION, 100, adjacency)).tolist() == [2, 3, 5, 7]
    assert candidates(heads(FUSION, 1, adjacency)).tolist() == [3, 5, 7]


def test_each_list_tells_score_and_rank_also_among_those_of_the_type(adjacency: MemmapAdjacency) -> None:
    found = heads(FUSION, 100, adjacency)
    columns = list_signals(found, candidates(found))
    assert columns["list:bm25:score"].tolist() == pytest.approx([4, 2, 8, math.nan], nan_ok=True)
    assert columns["list:bm25:relative"].tolist() == pytest.approx([0.5, 0.25, 1, math.nan], nan_ok=True)
    ranks = [math.log(2), math.log(3), 0, math.nan]
    assert columns["list:bm25:rank"].tolist() == pytest.approx(ranks, nan_ok=True)
    # Among persons (odd keys), 5 is first and 3 second; among films, 2 is first.
    in_type = [0, math.log(2), 0, math.nan]
    assert columns["list:bm25:rank in type"].tolist() == pytest.approx(in_type, nan_ok=True)
    assert columns["lists"].tolist() == [2, 3, 2, 1], "the fused text counts too"
    # 7: 2/4; 3: 1/(3 + 1) by the text, whose first it is; 5 and 2 follow in the text.
    # With k = 10 the sums are 2: 1/13 + 1/12, 3: 1/11 + 1/13 + 1/11, 5: 1/12 + 1/11, 7: 1/11.
    assert np.exp(columns["lists:place"]).tolist() == pytest.approx([3, 1, 2, 4])
    assert np.exp(columns["list:fused:rank"]).tolist() == pytest.approx([4, 2, 3, 1])


def test_lists_of_words_have_no_score_of_their_own_and_those_of_relations_only_the_relative_one(
    adjacency: MemmapAdjacency,
) -> None:
    names = ("text/bm25", "relation:made by/bm25", "name/dense")
    fusion = Fusion.of({name: ranked({5: 1.0, 2: 0.5}) for name in names}, dict.fromkeys(names, 1.0), 1, by_key)
    found = heads(fusion, 100, adjacency)
    signals = [name for name in list_signals(found, candidates(found)) if name.startswith("list:")]
    of_list = {name: [one.rpartition(":")[2] for one in signals if one.startswith(f"list:{name}:")] for name in names}
    assert of_list == {
        "text/bm25": ["relative", "rank", "rank in type"],
        "relation:made by/bm25": ["relative"],
        "name/dense": ["score", "relative", "rank", "rank in type"],
    }


def test_an_empty_fusion_has_no_candidates(adjacency: MemmapAdjacency) -> None:
    empty = Fusion.of({"text": ranked({})}, {"text": 1.0}, 3.0, by_key)
    found = heads(empty, 100, adjacency)
    assert candidates(found).tolist() == []
    assert all(len(column) == 0 for column in list_signals(found, candidates(found)).values())


def test_the_plans_tell_what_is_met_of_the_plan_that_found_a_candidate() -> None:
    plan = Plan(anchors=(), hops=(), target=Target("T", ("film",), ""))
    plans = [LinkedPlan(plan, (), 0, "schema", 0.6), LinkedPlan(plan, (), 1, "schema", 0.2)]
    checked = CheckedConditions({
        3: Conditions(0, "met", (("A", "met"),), ("met",), (), (PlanShare(0, 0.75), PlanShare(1, 0.25))),
        5: Conditions(0, "not_met", (("A", "not_met"),), ("met",)),
        6: Conditions(0, "met"),
    })  # fmt: skip
    columns = plan_signals(FUSION, plans, checked, np.array([2, 3, 5], dtype=np.int32))
    assert columns["plan:probability"].tolist() == pytest.approx([math.nan, 0.5, 0.0], nan_ok=True)
    assert columns["plan:share"].tolist() == pytest.approx([math.nan, 0.75, 0.0], nan_ok=True)
    assert columns["plan:whole"].tolist() == pytest.approx([math.nan, 1, 0], nan_ok=True)
    assert columns["plan:conditions"].tolist() == pytest.approx([math.nan, 1, 0.5], nan_ok=True)
    assert columns["plan:unmet"].tolist() == pytest.approx([math.nan, 0, 1], nan_ok=True)
    assert columns["plan:trust"].tolist() == pytest.approx([0.8] * 3)
    assert columns["plan:found"].tolist() == pytest.approx([math.log(5)] * 3)
    assert columns["plan:leads"].tolist() == [1, 1, 1]
