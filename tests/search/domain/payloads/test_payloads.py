"""What any step records is read back into its type and written again unchanged."""

from __future__ import annotations

from typing import Any, get_args

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.domain.conditions import CheckedConditions, Conditions
from search.domain.evidence import (
    ConditionStatus,
    Evidence,
    ExclusionEvidence,
    OrderEvidence,
    Path,
    PathEdge,
    PathNode,
    PlanShare,
    Residual,
    Result,
)
from search.domain.fusion import Fusion, Share
from search.domain.graph import Node
from search.domain.linking import Binding, GraphRanking, LinkedPlan, Traversal
from search.domain.payloads import GraphListed, Payload, UnreadablePayload, read_payload
from search.domain.plan import (
    Anchor,
    Ask,
    Count,
    Exclusion,
    FieldOf,
    Filter,
    Hop,
    Order,
    Plan,
    Risk,
    ScoredPlan,
    Target,
)
from search.domain.plan.parts import MatchMode, Operator, PlanSource, RetrievalMode
from search.domain.ranking import by_key
from search.domain.signals import Reranked
from search.domain.trace import OUTPUT_TYPES, StepRole, Trace
from search.domain.trust import Trust
from search.services.searches.record_search import written
from search.stages.recover.attempt import Attempt
from tests.graphs import Nodes
from tests.rankings import ranked
from tests.search import small

KEYS = st.integers(0, len(small.GRAPH.nodes) - 1)
NUMBERS = st.floats(-10, 10, allow_nan=False)
PARTS = st.floats(0, 1, allow_nan=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
"""Texts as rows hold them: Postgres takes no NUL."""
VARS = st.sampled_from(["a", "b", "m", "T"])
NODES = st.sampled_from(small.GRAPH.nodes)
DIRECTIONS = st.sampled_from(["in", "out"])
RANKINGS = st.dictionaries(KEYS, NUMBERS, max_size=6).map(lambda scores: ranked(scores))


def chosen(literal: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(get_args(literal))


def some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(strategy, max_size=3).map(tuple)


ANCHORS = st.builds(Anchor, VARS, TEXTS, TEXTS, chosen(MatchMode), some(TEXTS))
HOPS = st.builds(Hop, VARS, TEXTS, VARS, TEXTS, st.none() | DIRECTIONS)
VALUES = TEXTS | NUMBERS | st.lists(TEXTS, max_size=2) | st.builds(FieldOf, VARS, TEXTS)
FILTERS = st.builds(Filter, VARS, TEXTS, chosen(Operator), VALUES)
EXCLUSIONS = st.builds(Exclusion, some(ANCHORS), some(HOPS), some(FILTERS))
COUNTS = st.builds(Count, TEXTS, st.none() | DIRECTIONS, TEXTS)
ORDERS = st.builds(Order, TEXTS | COUNTS, st.sampled_from(("asc", "desc")), st.none() | st.integers(1, 9))
PLANS = st.builds(
    Plan, some(ANCHORS), some(HOPS), st.builds(Target, VARS, some(TEXTS), TEXTS), some(FILTERS), chosen(Risk),
    st.none() | chosen(RetrievalMode), some(EXCLUSIONS), st.none() | ORDERS, chosen(Ask),
)  # fmt: skip
SCORED = st.builds(ScoredPlan, PLANS, chosen(PlanSource), PARTS)
LINKED = st.builds(
    LinkedPlan, PLANS, some(st.builds(Binding, VARS, NODES, PARTS)), st.integers(0, 9), chosen(PlanSource), PARTS
)
TRAVERSALS = st.builds(
    Traversal, st.integers(0, 9), TEXTS, RANKINGS.map(lambda ranking: ranking.candidates), st.booleans(), TEXTS
)
GRAPHS = st.builds(
    GraphRanking, RANKINGS, st.builds(Trust, st.integers(0, 99), chosen(Risk), PARTS),
    st.dictionaries(st.integers(0, 9), st.dictionaries(KEYS, NUMBERS), max_size=3),
)  # fmt: skip


@st.composite
def fusions(draw: st.DrawFn) -> Fusion:
    rankings = draw(st.dictionaries(TEXTS, RANKINGS, max_size=3))
    weights = {name: draw(PARTS) for name in rankings}
    k = draw(st.floats(0, 100))
    trust = {name: Trust(draw(st.integers(0, 99)), draw(chosen(Risk)), draw(PARTS)) for name in rankings}
    return Fusion.of(
        rankings, weights, k + 1, by_key, method=draw(TEXTS), bucket=draw(TEXTS), risk=draw(TEXTS),
        leads=draw(st.booleans()), trust=trust, surely=draw(st.booleans()),
    )  # fmt: skip


RERANKED = st.builds(
    lambda fusion, told: Reranked(**{**vars(fusion), "probability": told}), fusions(), st.none() | PARTS
)


@st.composite
def paths(draw: st.DrawFn) -> Path:
    edges = draw(some(st.builds(PathEdge, TEXTS, DIRECTIONS)))
    nodes = [PathNode(draw(NODES), draw(st.just("") | VARS)) for _ in range(len(edges) + 1)]
    return Path(tuple(nodes), edges)


PLACED = st.builds(OrderEvidence, chosen(ConditionStatus), st.none() | TEXTS | NUMBERS, st.none() | st.integers(1, 9))
EVIDENCE = st.builds(
    Evidence, st.integers(0, 9), some(st.tuples(VARS, chosen(ConditionStatus))), some(chosen(ConditionStatus)),
    st.builds(Residual, TEXTS, chosen(ConditionStatus), st.none() | NUMBERS, st.none() | NUMBERS), some(paths()),
    some(chosen(ConditionStatus)), st.just(()), chosen(ConditionStatus),
    some(st.builds(ExclusionEvidence, chosen(ConditionStatus), some(paths()))), st.none() | PLACED,
)  # fmt: skip
SHARES = st.builds(Share, st.none() | st.integers(1, 100), st.none() | NUMBERS, PARTS, NUMBERS)
RESULTS = st.builds(
    Result, st.integers(1, 100), NUMBERS, NODES, TEXTS, st.dictionaries(TEXTS, SHARES, max_size=3),
    st.none() | EVIDENCE,
)  # fmt: skip
CHECKED = st.builds(
    CheckedConditions,
    st.dictionaries(
        KEYS,
        st.builds(
            Conditions, st.integers(0, 9), chosen(ConditionStatus),
            some(st.tuples(VARS, chosen(ConditionStatus))), some(chosen(ConditionStatus)),
            some(chosen(ConditionStatus)), some(st.builds(PlanShare, st.integers(0, 9), PARTS)),
            some(chosen(ConditionStatus)), st.none() | PLACED,
        ),
        max_size=3,
    ),
    st.none() | st.integers(0, 9),
)  # fmt: skip
ATTEMPTS = st.builds(Attempt, TEXTS, PLANS, LINKED, TRAVERSALS, some(TEXTS))
GIVEN: dict[StepRole, st.SearchStrategy[Any]] = {
    "plan": st.lists(SCORED, max_size=3), "link": st.lists(LINKED, max_size=3), "recover": ATTEMPTS,
    "graph": st.lists(TRAVERSALS, max_size=3), "graph list": GRAPHS, "text list": RANKINGS, "list": RANKINGS,
    "fusion": fusions(), "check": CHECKED, "rerank": RERANKED, "explain": st.lists(RESULTS, max_size=3),
}  # fmt: skip


def recorded(role: StepRole, result: Any) -> Any:
    """Return what a run's row holds of a step that gave this."""
    trace = Trace()
    trace.step("some step", role, lambda: result)
    return orjson.loads(written(trace.steps[0].output, Nodes(small.GRAPH, small.schema())))


def read(role: StepRole, output: Any) -> Payload:
    payload = read_payload(role, output)
    assert payload is not None
    return payload


def test_every_role_whose_output_has_a_type_is_tried_here() -> None:
    assert GIVEN.keys() == {*OUTPUT_TYPES, "recover"}


@pytest.mark.parametrize("role", list(GIVEN))
def test_what_a_step_recorded_is_written_again_unchanged(role: StepRole) -> None:
    @settings(max_examples=60, deadline=None)
    @given(GIVEN[role])
    def holds(result: Any) -> None:
        output = recorded(role, result)
        payload = read(role, output)
        assert payload.to_json() == output
        assert read(role, payload.to_json()) == payload

    holds()


@settings(max_examples=60, deadline=None)
@given(SCORED)
def test_a_plan_is_read_back_as_it_was_without_any_schema(scored: ScoredPlan) -> None:
    [entry] = read("plan", recorded("plan", [scored])).entries  # type: ignore[union-attr]
    assert entry.plan == scored.plan  # type: ignore[union-attr]


def test_a_graphs_list_that_does_not_say_how_far_to_trust_it_cannot_be_read() -> None:
    output = recorded("graph list", GraphRanking(ranked({0: 1.0}), Trust(1, "weak", 0.0), {0: {0: 1.0}}))
    for version in (1, 2):
        with pytest.raises(UnreadablePayload, match="lacks 'risk_level'"):
            read_payload("graph list", {k: v for k, v in output.items() if k != "risk_level"}, version)
    with pytest.raises(UnreadablePayload, match="the level of trust 'bold' is none of no_trade, weak"):
        read_payload("graph list", output | {"risk_level": "bold"})


@pytest.mark.parametrize(
    ("role", "output"),
    [("plan", {"plans": []}), ("fusion", []), ("text list", {"ids": []}), ("explain", [{"rank": 1}]), ("graph", [3])],
)
def test_an_output_that_is_not_what_its_role_says_is_refused(role: StepRole, output: Any) -> None:
    with pytest.raises(UnreadablePayload, match=f"a step of the role '{role}' cannot be read"):
        read_payload(role, output)


def test_nothing_recorded_and_roles_without_a_type_are_none() -> None:
    assert read_payload("plan", None) is None
    assert read_payload("expand", {"anything": 1}) is None


def test_another_version_is_refused() -> None:
    with pytest.raises(UnreadablePayload, match="version 3; this code reads versions 1 and 2"):
        read_payload("plan", [], 3)


def test_lists_and_fusions_of_version_1_are_completed_with_what_was_so_then() -> None:
    old = {"total": 1, "ids": ["a"], "scores": [0.5], "n_cand": 1, "risk_level": "weak"}
    found = read_payload("graph list", old, 1)
    assert isinstance(found, GraphListed)
    assert (found.plans, found.shares, found.probability, found.plan_of) == ((0,), ((),), 0.0, {"a": 0})
    with pytest.raises(UnreadablePayload):
        read_payload("graph list", old, 2)
    listed = {"total": 1, "ids": ["a"], "scores": [0.5]}
    fused = read_payload("fusion", {"method": "static", "k": 5.0, "weights": {"text": 1.0}, "ranking": listed}, 1)
    assert fused is not None
    assert fused.to_json()["leads"] is False  # type: ignore[call-overload,index]


def test_nodes_of_results_are_known_by_id_alone() -> None:
    result = Result(1, 0.5, Node(7, "a b", "film", "Amber"), "", {})
    payload = read("explain", recorded("explain", [result]))
    assert payload.entries[0].node == Node(-1, "a b", "film", "Amber")  # type: ignore[union-attr]
