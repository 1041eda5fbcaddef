"""SPARK and SAGE as pipelines: what happens when the plan finds something, nothing, or fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from search.domain.conditions import CheckedConditions
from search.domain.errors import SearchCancelled, StageError
from search.domain.evidence import Evidence, Path, PathEdge, PathNode, Result
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.linking import Binding, GraphRanking, LinkedPlan, Traversal
from search.domain.neighbours import Neighbours
from search.domain.plan import Anchor, Hop, Plan, ScoredPlan, Target
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking
from search.domain.trace import Limit, Trace
from search.domain.trust import Trust
from search.pipelines import sage, spark
from search.stages.unite import Unite
from tests.rankings import ranked
from tests.search.stages.doubles import Cosines

ASKED = Question("rain", k=10)
PLAN = Plan((Anchor("A", "Ada"),), (Hop("A", "made", "T"),), Target("T"))
LINKED = LinkedPlan(PLAN, (Binding("A", Node(0, "n0", "t", "Ada"), 1.0),))
GRAPH = GraphRanking(ranked({1: 1.0, 2: 0.5}), Trust(2, "normal", 0.5), {0: {1: 1.0, 2: 0.5}})
TEXT = ranked({3: 0.9, 1: 0.5})
STEP = Path((PathNode(Node(3, "n3", "t", "N3")), PathNode(Node(7, "n7", "t", "N7"))), (PathEdge("IS_SIMILAR", "out"),))
TABLE = Cosines({"document+relations": {"rain": {}}})


def explain(question: Question, fusion: Fusion, plans: Any, checked: Any, limit: Limit) -> list[Result]:
    shown = [None if key != 1 else Evidence(0, hops=("met",)) for key in fusion.ranking.keys]
    return [
        Result(rank, one.score, Node(one.key, f"n{one.key}", "t", "N"), "", fusion.leaves(one.key), evidence)
        for rank, (one, evidence) in enumerate(zip(fusion.ranking, shown, strict=True), 1)
    ]


PLANNED: dict[str, Any] = {
    "plan": lambda question, limit: [ScoredPlan(PLAN, "llm", 1.0)],
    "link": lambda plans, limit: [LINKED],
    "traverse": lambda plans, limit: [Traversal(0, "test", (Candidate(1, 1.0),))],
    "rescore": lambda question, plans, found, limit: GRAPH,
    "retrieve": lambda question, limit: TEXT,
    "check": lambda question, fusion, plans, graph, limit: CheckedConditions(),
    "explain": explain,
}
SPARK = spark.SparkStages(**PLANNED)


class Expand:
    """Adds node 7 to whatever it gets, and keeps what it got."""

    def __init__(self) -> None:
        self.got: list[tuple[tuple[int, ...], list[LinkedPlan]]] = []

    def __call__(self, question: Question, seeds: Ranking, plans: Any, limit: Limit) -> Neighbours:
        self.got.append((seeds.keys, list(plans)))
        added = ranked({7: 1.0})
        return Neighbours(added, {"bm25": added}, {"bm25": 1.0}, 0.0, "sum", paths={7: STEP}, seeds=1, detail="One.")


def stages(**other: Any) -> sage.SageStages:
    return sage.SageStages(**{**PLANNED, "expand": Expand(), "unite": Unite(TABLE, TABLE), **other})  # type: ignore[arg-type]


def nothing(*_: Any) -> GraphRanking:
    return GraphRanking.empty()


def broken(*_: Any) -> Any:
    raise StageError("plan", "the language model is tired")


def steps(trace: Trace) -> dict[str, str]:
    return {step.name: step.status for step in trace.steps}


def test_what_the_plan_finds_is_the_list_and_words_are_not_searched() -> None:
    trace = Trace()
    assert spark.search(ASKED, SPARK, trace).keys == (1, 2)
    assert steps(trace)["retrieve"] == "skipped"


@pytest.mark.parametrize("change", [{"rescore": nothing}, {"plan": broken}, {"link": broken}, {"traverse": broken}])
def test_words_and_vectors_answer_where_the_plan_finds_nothing(change: dict[str, Any]) -> None:
    trace = Trace()
    assert spark.search(ASKED, replace(SPARK, **change), trace).keys == (3, 1)
    assert steps(trace)["retrieve"] == "ok"
    failed = [step for step in trace.steps if step.status == "degraded"]
    assert [step.detail for step in failed] == (
        [] if "rescore" in change else ["the language model is tired; words and vectors instead"]
    )


def test_a_cancelled_search_is_not_answered_otherwise() -> None:
    def cancelled(*_: Any) -> Any:
        raise SearchCancelled()

    with pytest.raises(SearchCancelled):
        spark.search(ASKED, replace(SPARK, plan=cancelled), Trace())
    with pytest.raises(SearchCancelled):
        sage.search(ASKED, stages(expand=cancelled), Trace())


def test_neighbours_stand_behind_the_seeds_with_the_edge_that_led_to_them() -> None:
    expand, trace = Expand(), Trace()
    found = sage.search(ASKED, stages(expand=expand), trace)
    assert found.keys == (1, 7, 2)
    assert expand.got == [((1, 2), [LINKED])]
    shown = {one["node"]["id"]: one["evidence"] for one in trace.output("explain")}
    assert shown["n7"]["paths"] == [STEP.to_json()]
    assert shown["n1"]["hops"] == [{"index": 0, "status": "met"}]
    assert shown["n2"] is None
    assert next(step.detail for step in trace.steps if step.name == "expand") == "One."


def test_seeds_that_text_found_have_no_plan() -> None:
    expand = Expand()
    assert sage.search(ASKED, stages(expand=expand, rescore=nothing), Trace()).keys == (3, 7, 1)
    assert expand.got == [((3, 1), [])]


def test_without_a_plan_stage_words_and_vectors_give_the_seeds() -> None:
    trace = Trace()
    assert sage.search(ASKED, stages(plan=None), trace).keys == (3, 7, 1)
    assert "plan" not in steps(trace)


def test_when_the_expansion_fails_the_seeds_stand_alone() -> None:
    trace = Trace()
    assert sage.search(ASKED, stages(expand=broken), trace).keys == (1, 2)
    assert steps(trace)["expand"] == "degraded"
