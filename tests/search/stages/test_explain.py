"""Why a result stands where it stands; the graph behind it is matched by trying everything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from search.domain.errors import DeadlineExceeded, StageError
from search.domain.evidence import Result
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.linking import Binding, GraphRanking, LinkedPlan
from search.domain.payloads.results import _evidence
from search.domain.plan import Anchor, Filter, Hop, Plan, Target
from search.domain.question import Question
from search.domain.trace import Limit, StepOutput
from search.domain.trust import Trust
from search.stages.check import Check
from search.stages.explain import Explain
from tests.graphs import Nodes, schema_of
from tests.oracle import Graph
from tests.rankings import ranked, table
from tests.search.stages.doubles import Cosines, TriesEverything

# Ada (0) acted in 2 and 3, Bo (1) directed 3 and 4; genre 6 belongs to 3; 5 is a film that nobody is linked to.
NAMES = ("Ada", "Bo", "Alpha", "Beta", "Gamma", "Delta", "Noir")
KINDS = ("person", "person", "film", "film", "film", "film", "genre")
TEXT = "A quiet start. Then a ship burns in the harbour while everybody sleeps. "
NODES = tuple(
    Node(key, f"id{key}", kind, name, fields={"plot": TEXT * 8, "year": 1990 + key})
    for key, (name, kind) in enumerate(zip(NAMES, KINDS, strict=True))
)
GRAPH = Graph(NODES, ((0, "acted", 2), (0, "acted", 3), (1, "directed", 3), (1, "directed", 4), (3, "has", 6)))
COSINES = {"document+relations": {"in space": {2: 0.10, 3: 0.95, 4: 0.20, 5: 0.30}}}
JOIN = Plan(
    (Anchor("a", "Ada", "person"), Anchor("b", "Bo", "person")),
    (Hop("a", "acted", "T", "film"), Hop("b", "directed", "T", "film")),
    Target("T", ("film",), "in space"),
)
LINKED = LinkedPlan(JOIN, (Binding("a", NODES[0], 0.9), Binding("b", NODES[1], 0.8)), 0)


def explain(
    plans: list[LinkedPlan], keys: list[int], plan_of: dict[int, int] | None = None, k: int = 20, **options: Any
) -> StepOutput[Result]:
    """Check and explain: 3 is the graph's, `keys` are the text's, `plan_of` says whose the graph's are."""
    down, limit = options.pop("down", {}), options.pop("limit", Limit())
    cosines = Cosines(COSINES, {node.key: node.type for node in NODES})
    whole = TriesEverything(GRAPH)
    found = [whole.execute(plan, Limit()) for plan in plans if plan.is_bound]
    parts: dict[int, dict[int, float]] = {plan.index: {} for plan in plans}
    for key, index in (plan_of or {}).items():
        parts[index][key] = 1.0
    graph = GraphRanking(ranked({3: 1.7}), Trust(1, "normal", 0.5), parts, found)
    text = ranked({key: 1.0 - i / 10 for i, key in enumerate(keys)})
    fusion = Fusion.of({"graph": graph.ranking, "text": text}, {"graph": 2.5, "text": 1.0}, 5, table({}))
    question, store = Question("ship in the harbour", k), TriesEverything(GRAPH, down)
    checked = Check(store)(question, fusion, plans, graph, limit)
    stage = Explain(store, Nodes(GRAPH, schema_of(GRAPH)), cosines, cosines, **options)
    results = stage(question, fusion, plans, checked, limit)
    return StepOutput(results, f"{checked.detail} {results.detail}".strip(), results.status)


def by_key(results: StepOutput[Result]) -> dict[int, Result]:
    return {result.node.key: result for result in results}


def test_a_result_of_the_whole_plan_meets_every_anchor_and_hop_and_shows_a_path_an_anchor() -> None:
    evidence = by_key(explain([LINKED], [2, 3, 4, 5], {3: 0}))[3].evidence
    assert evidence is not None
    assert (evidence.anchors, evidence.hops) == ((("a", "met"), ("b", "met")), ("met", "met"))
    assert [path.nodes[0].node.name for path in evidence.paths] == ["Ada", "Bo"]


def test_the_value_of_the_field_that_the_plan_shows_is_told() -> None:
    asked = LinkedPlan(replace(JOIN, show="year"), LINKED.bindings, 0)
    evidence = by_key(explain([asked], [3], {3: 0}))[3].evidence
    assert evidence is not None
    assert (evidence.value, evidence.to_json()["value"]) == (1993, 1993)
    assert _evidence(evidence.to_json()).value == 1993
    plain = by_key(explain([LINKED], [3], {3: 0}))[3].evidence
    assert plain is not None
    assert "value" not in plain.to_json()


def test_the_values_that_filters_compare_are_told() -> None:
    # The films 2 to 5 are of 1992 to 1995; that a year is just 1993 needs no telling.
    later, just = Filter("T", "year", ">", 1992), Filter("T", "year", "=", 1993)
    for limits, values in (((later,), {"year": 1993}), ((just,), {}), ((later, just), {"year": 1993})):
        evidence = by_key(explain([LinkedPlan(replace(JOIN, filters=limits), LINKED.bindings, 0)], [3]))[3].evidence
        assert evidence is not None
        assert evidence.values == values
        assert _evidence(evidence.to_json()).values == values
        assert ("values" in evidence.to_json()) == bool(values)


def test_a_result_of_the_text_is_held_against_each_branch_alone() -> None:
    results = by_key(explain([LINKED], [2, 3, 4, 5]))
    two, four, five = results[2].evidence, results[4].evidence, results[5].evidence
    assert two is not None
    assert (two.anchors, two.hops) == ((("a", "met"), ("b", "not_met")), ("met", "not_met"))
    assert [path.nodes[0].node.name for path in two.paths] == ["Ada"]
    assert four is not None
    assert (four.anchors, four.hops) == ((("a", "not_met"), ("b", "met")), ("not_met", "met"))
    assert five is not None
    assert (five.anchors, five.paths) == ((("a", "not_met"), ("b", "not_met")), ())


def test_the_contributions_add_up_and_a_list_without_the_result_gives_nothing() -> None:
    results = by_key(explain([LINKED], [2, 3]))
    for result in results.values():
        assert sum(share.contribution for share in result.shares.values()) == pytest.approx(result.score)
    assert results[3].shares["graph"].rank == 1
    assert results[3].shares["graph"].score == 1.7
    assert results[2].shares["graph"].to_json() == {
        "rank": None, "score": None, "weight": 2.5, "contribution": 0.0, "k": 5, "path": ["graph"],
    }  # fmt: skip


def test_the_residual_is_met_above_the_percentile_of_the_types_cosines() -> None:
    results = by_key(explain([LINKED], [2, 3, 4, 5], percentile=50.0))
    # The films' cosines are 0.10, 0.20, 0.30 and 0.95; their median is 0.25.
    residuals = {key: result.evidence.residual for key, result in results.items() if result.evidence}
    assert {key: residual.status for key, residual in residuals.items()} == {
        2: "not_met", 3: "met", 4: "not_met", 5: "met",
    }  # fmt: skip
    assert residuals[3].threshold == pytest.approx(0.25)
    assert residuals[3].score == 0.95


def test_a_result_is_held_against_the_plan_that_found_it() -> None:
    other = LinkedPlan(Plan((Anchor("b", "Bo"),), (Hop("b", "directed", "T"),)), (Binding("b", NODES[1], 1.0),), 1)
    results = by_key(explain([LINKED, other], [2, 4], {4: 1}))
    four, two = results[4].evidence, results[2].evidence
    assert four is not None
    assert (four.plan_index, four.anchors) == (1, (("b", "met"),))
    assert two is not None
    assert two.plan_index == 0


def test_an_anchor_without_binding_is_not_met_and_the_other_is_still_checked() -> None:
    half = LinkedPlan(JOIN, (Binding("a", NODES[0], 0.9),), 0)
    evidence = by_key(explain([half], [2]))[2].evidence
    assert evidence is not None
    assert evidence.anchors == (("a", "met"), ("b", "not_met"))


def test_what_could_not_be_checked_is_unknown_and_said() -> None:
    results = explain([LINKED], [2], down={0: StageError("explain", "Postgres does not answer")})
    three, two = by_key(results)[3].evidence, by_key(results)[2].evidence
    assert two is not None
    assert (two.anchors, two.hops) == ((("a", "unknown"), ("b", "unknown")), ("unknown", "unknown"))
    # That the graph found it is known already; only its paths are not.
    assert three is not None
    assert (three.hops, three.paths) == (("met", "met"), ())
    assert (results.status, results.detail) == (
        "degraded",
        "Conditions could not be checked: Postgres does not answer. "
        "Paths could not be looked up: Postgres does not answer.",
    )


def test_when_the_time_has_run_out_the_results_are_shown_with_what_is_known() -> None:
    results = explain([LINKED], [2, 3], limit=Limit.seconds(0))
    assert [result.node.key for result in results] == [3, 2]
    evidence = results[1].evidence
    assert evidence is not None
    assert {status for _, status in evidence.anchors} == {"unknown"}
    assert evidence.residual.status == "unknown"
    assert DeadlineExceeded("explain").reason in results.detail


def test_without_plans_there_is_no_evidence() -> None:
    assert explain([], [2])[0].evidence is None


def test_a_plan_without_anchors_is_held_by_its_residual_alone() -> None:
    text_only = LinkedPlan(Plan(target=Target("T", (), "in space")), (), 0)
    evidence = by_key(explain([text_only], [3]))[3].evidence
    assert evidence is not None
    assert (evidence.anchors, evidence.hops, evidence.residual.status) == ((), (), "met")


def test_only_the_first_k_results_are_explained_in_order_with_a_snippet() -> None:
    results = explain([LINKED], [2, 3, 4], k=2)
    assert [(result.rank, result.node.name) for result in results] == [(1, "Beta"), (2, "Alpha")]
    assert "ship burns in the harbour" in results[0].snippet


def test_a_hop_to_a_loose_end_is_held_against_the_result_alone() -> None:
    plan = Plan((Anchor("a", "Ada"),), (Hop("a", "acted", "T"), Hop("T", "has", "g", "genre")))
    results = by_key(explain([LinkedPlan(plan, (Binding("a", NODES[0], 1.0),), 0)], [2, 3, 4]))
    held = {key: (result.evidence.anchors[0][1], result.evidence.hops) for key, result in results.items()
            if result.evidence}  # fmt: skip
    assert held == {3: ("met", ("met", "met")), 2: ("met", ("met", "not_met")), 4: ("not_met", ("not_met", "not_met"))}


def test_filters_are_held_against_the_results_own_fields_and_no_anchor_is_blamed_for_them() -> None:
    # The films 2 to 5 are of 1992 to 1995; Ada acted in 2 and 3.
    plan = Plan((Anchor("a", "Ada"),), (Hop("a", "acted", "T"),), filters=(Filter("T", "year", ">", 1992),))
    results = by_key(explain([LinkedPlan(plan, (Binding("a", NODES[0], 1.0),), 0)], [2, 3, 5]))
    held = {key: result.evidence for key, result in results.items() if result.evidence}
    assert {key: (evidence.anchors[0][1], *evidence.filters) for key, evidence in held.items()} == {
        2: ("met", "not_met"), 3: ("met", "met"), 5: ("not_met", "met"),
    }  # fmt: skip
    assert [path.nodes[0].node.name for path in held[2].paths] == ["Ada"]


def test_a_filter_on_the_way_is_held_against_the_walk_that_it_is_on_and_no_anchor_is_blamed_for_it() -> None:
    # Both of Bo's films are reached over a node of the year 1996 or of another; Noir is the only one of 1996.
    on_the_way = Filter("g", "year", "=", 1996)
    plan = Plan((Anchor("g", "Noir"),), (Hop("T", "has", "g"),), filters=(on_the_way,))
    results = by_key(explain([LinkedPlan(plan, (Binding("g", NODES[6], 1.0),), 0)], [3, 5]))
    assert {key: result.evidence.filters for key, result in results.items() if result.evidence} == {
        3: ("met",), 5: ("not_met",),
    }  # fmt: skip
    other = Plan((Anchor("g", "Noir"),), (Hop("T", "has", "g"),), filters=(Filter("g", "year", "=", 1900),))
    results = by_key(explain([LinkedPlan(other, (Binding("g", NODES[6], 1.0),), 0)], [3]))
    evidence = results[3].evidence
    assert evidence is not None
    assert (evidence.anchors, evidence.hops, evidence.filters) == ((("g", "met"),), ("met",), ("not_met",))


def test_a_result_names_the_plans_that_put_it_there_and_is_explained_by_the_plan_that_is_shown() -> None:
    other = LinkedPlan(Plan((Anchor("b", "Bo"),), (Hop("b", "directed", "T"),)), (Binding("b", NODES[1], 1.0),), 1)
    results = by_key(explain([LINKED, other], [2], {3: 1}))
    three, two = results[3].evidence, results[2].evidence
    assert three is not None
    # Plan 1 alone put it into the list, but it meets plan 0, too, which is shown.
    assert (three.plan_index, [(share.plan_index, share.share) for share in three.plans]) == (0, [(1, 1.0)])
    assert two is not None
    assert (two.plan_index, two.plans) == (0, ())
