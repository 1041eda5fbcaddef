"""A plan that finds nothing is changed as little as will do, and every attempt says what it did."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.graph import Node
from search.domain.linking import Binding, LinkedPlan, Traversal
from search.domain.payloads import Links, Plans, Traversals
from search.domain.payloads import Recovery as Changed
from search.domain.payloads.lists import Listed
from search.domain.payloads.plans import PlanEntry, Traversed
from search.domain.plan import Anchor, Filter, Hop, Plan, ScoredPlan, Target
from search.domain.ranking import Candidate
from search.domain.trace import Limit, Trace
from search.services.searches.record_search import written
from search.stages.link import Link
from search.stages.recover import Recover
from search.stages.traverse import Traverse
from tests.graphs import Nodes, schema_of
from tests.oracle import Graph
from tests.search.stages.doubles import Cosines, TriesEverything

NODES = (
    Node(0, "lamp", "product", "Lamp", fields={"price": 40}),
    Node(1, "torch", "product", "Torch", fields={"price": 20}),
    Node(2, "mug", "product", "Mug", fields={"price": 9}),
    Node(3, "ostervik", "brand", "Ostervik"),
    Node(4, "osterby", "brand", "Österby"),
    Node(5, "osteria", "brand", "Osteria"),
    Node(6, "nord", "brand", "Nord"),
    Node(7, "lights", "kind", "Lights"),
    Node(8, "kitchen", "kind", "Kitchen"),
    Node(9, "pocket", "kind", "Pocket"),
    Node(10, "review", "review", "A review"),
)
GRAPH = Graph(
    NODES,
    (
        (0, "by", 3), (1, "by", 4), (2, "by", 5),
        (0, "in", 7), (1, "in", 7), (1, "in", 9), (2, "in", 8), (10, "of", 2),
    ),
)  # fmt: skip
"""The lamp is by Ostervik, the torch by Österby, the mug by Osteria; nothing is by Nord. Only the mug has a review."""
TYPES = {node.key: node.type for node in NODES}
COSINES = Cosines({"name": {"Oster": {3: 0.80, 4: 0.79, 5: 0.70, 6: 0.60}, "Nobody": {}}}, TYPES)
NODE_STORE = Nodes(GRAPH, schema_of(GRAPH))


def brand(text: str, *ids: str) -> Anchor:
    return Anchor("b", text, "brand", ids=ids)


def kind(node_id: str, var: str = "k") -> Anchor:
    return Anchor(var, node_id.capitalize(), "kind", ids=(node_id,))


def star(*anchors: Anchor, **more: object) -> Plan:
    """Products that all of these point to."""
    relations = {"brand": "by", "kind": "in"}
    hops = tuple(Hop("T", relations[anchor.label], anchor.var, anchor.label, "out") for anchor in anchors)
    return replace(Plan(anchors, hops, Target("T", ("product",))), **more)  # type: ignore[arg-type]


class Recovery:
    """One run of the stage over plans that were linked and executed first."""

    def __init__(
        self, *plans: Plan, name_k: int = 1, graph: TriesEverything | None = None, limit: Limit | None = None,
        **options: object,
    ) -> None:  # fmt: skip
        link = Link(COSINES, COSINES, NODE_STORE, name_k=name_k)
        traverse = Traverse(graph or TriesEverything(GRAPH))
        probability = 1 / len(plans)
        self.before = link([ScoredPlan(plan, "user", probability) for plan in plans], Limit())
        found = Traverse(TriesEverything(GRAPH))(self.before, Limit())
        self.trace = Trace()
        self.plans, self.found = Recover(**options)(  # type: ignore[arg-type]
            self.before, found, link, traverse, self.trace, limit or Limit()
        )

    @property
    def said(self) -> list[str]:
        return [step.detail for step in self.trace.steps]

    def candidates(self, index: int = 0) -> dict[str, float]:
        return {NODES[c.key].id: pytest.approx(c.score) for c in self.found[index].candidates}


def test_a_plan_that_finds_something_is_left_alone() -> None:
    run = Recovery(star(brand("Nord", "nord")), star(kind("lights")))
    assert run.said == []
    assert run.plans is run.before


def test_further_matches_come_first() -> None:
    # K = 1 binds Oster to Ostervik, which makes nothing for the pocket. The next one within 0.95 × 0.80 is Österby.
    run = Recovery(star(brand("Oster"), kind("pocket")))
    assert run.said == ["Found with further matches for “Oster”."]
    assert run.candidates() == {"torch": 0.79 + 1}
    assert run.plans[0].plan == star(brand("Oster"), kind("pocket"))
    assert [b.node.id for b in run.plans[0].bindings_of("b")] == ["ostervik", "osterby"]


def test_then_more_matches_that_are_less_alike() -> None:
    # Osteria's 0.70 is below 0.95 × 0.80 and above 0.85 × 0.95 × 0.80 = 0.646; Nord's 0.60 is not.
    run = Recovery(star(brand("Oster"), kind("kitchen")))
    assert run.said == ["Nothing with further matches for “Oster”.", "Found with less similar matches for “Oster”."]
    assert run.candidates() == {"mug": 0.70 + 1}
    assert [b.node.id for b in run.plans[0].bindings_of("b")] == ["ostervik", "osterby", "osteria"]


def test_where_there_are_no_further_matches_the_graph_is_not_asked_again() -> None:
    graph = TriesEverything(GRAPH)
    run = Recovery(star(brand("Oster"), kind("kitchen")), name_k=5, graph=graph, attempts=1)
    assert run.said[0] == "There are no further matches for “Oster”."
    assert graph.asked == 0


def test_what_finds_nothing_by_itself_is_dropped_first_and_counts_as_text() -> None:
    run = Recovery(star(kind("lights"), brand("Nord", "nord"), target=Target("T", ("product",), "bright")))
    assert run.said == [
        "By itself, “Nord” (brand) finds nothing.",
        "Found after dropping “Nord” (brand), which counts as text now.",
    ]
    assert run.candidates() == {"lamp": 1.0, "torch": 1.0}
    assert run.plans[0].plan.target.relevance_text == "bright, by Nord"
    assert [binding.var for binding in run.plans[0].bindings] == ["k"]


def test_all_that_find_nothing_by_themselves_go_together() -> None:
    run = Recovery(star(brand("Nord", "nord"), kind("lights"), Anchor("c", "Nobody", "brand")))
    assert run.said[-2:] == [
        "By itself, “Nord” (brand) and “Nobody” (brand) find nothing.",
        "Found after dropping “Nord” (brand) and “Nobody” (brand), which count as text now.",
    ]


def test_of_two_that_exclude_each_other_the_less_surely_bound_one_goes() -> None:
    # The plan's own bindings count again: Ostervik with 0.80, the kitchen with 1.
    run = Recovery(star(kind("kitchen"), brand("Oster")), name_k=2, tau=1.0)
    assert run.said == [
        "There are no further matches for “Oster”.",
        "There are no less similar matches for “Oster”.",
        "Each entity of the plan finds something by itself, but nothing meets every condition.",
        "Found after dropping “Oster” (brand), which counts as text now. "
        "What is found without “Kitchen” (kind) instead is as near.",
    ]
    assert run.candidates() == {"mug": 1.0}


def test_of_two_that_are_equally_sure_the_one_that_says_less_goes() -> None:
    # Lights are two products, Osteria's is one.
    run = Recovery(star(brand("Osteria", "osteria"), kind("lights")))
    assert run.said[-1] == (
        "Found after dropping “Lights” (kind), which counts as text now. "
        "What is found without “Osteria” (brand) instead is as near."
    )
    assert run.candidates() == {"mug": 1.0}


def test_what_is_found_without_the_other_name_stands_beside_it() -> None:
    run = Recovery(star(brand("Osteria", "osteria"), kind("lights")), star(brand("Nord", "nord")))
    assert [plan.index for plan in run.plans] == [0, 1, 2]
    assert [[anchor.text for anchor in plan.plan.anchors] for plan in run.plans] == [["Osteria"], ["Nord"], ["Lights"]]
    assert (run.candidates(0), run.candidates(2)) == ({"mug": 1.0}, {"lamp": 1.0, "torch": 1.0})
    assert run.plans[2].plan.target.relevance_text == "by Osteria"
    assert run.plans[0].probability == run.plans[2].probability
    # What the trace keeps gives the same plans back.
    told = Changed.from_json(orjson.loads(written(run.trace.steps[-1].output, NODE_STORE)))
    plans = Plans(tuple(PlanEntry(plan.plan, "user", plan.probability) for plan in run.before))
    links, found = Links(((), ())), Traversals((Traversed(0, "", Listed((), (), 0)),))
    shown = told.laid_over(plans, links, found)
    assert [entry.dropped for entry in shown[0].entries] == [("in Lights",), (), ("by Osteria",)]
    assert [entry.plan_index for entry in shown[2].entries] == [0, 2]
    assert Changed.from_json(told.to_json()) == told


def test_a_filter_that_leaves_nothing_goes_before_any_anchor() -> None:
    cheap = Filter("T", "price", "<", 10)
    run = Recovery(star(brand("Oster"), kind("lights"), filters=(cheap,)), tau=1.0)
    assert run.said[-1] == "Found after dropping “price under 10”, which counts as text now."
    assert run.candidates() == {"lamp": 1.80}
    assert (run.plans[0].plan.filters, run.plans[0].plan.target.relevance_text) == ((), "price under 10")


def test_a_hop_that_leads_to_no_anchor_goes_too() -> None:
    plan = star(kind("lights"))
    run = Recovery(replace(plan, hops=(*plan.hops, Hop("T", "of", "r", "review"))))
    assert run.said == ["Found after dropping “of review”, which counts as text now."]
    assert run.candidates() == {"lamp": 1.0, "torch": 1.0}


def test_a_weaker_plan_is_trusted_less() -> None:
    [plan] = Recovery(star(kind("lights"), brand("Nord", "nord"), risk_level="aggressive")).plans
    # One of two conditions is left, and the risk is a level lower; but the graph keeps a say.
    assert (plan.probability, plan.plan.risk_level) == (0.5, "normal")
    assert Recovery(star(kind("lights"), brand("Nord", "nord"), risk_level="weak")).plans[0].plan.risk_level == "weak"


def test_with_a_single_part_the_text_decides_alone_and_that_is_said() -> None:
    run = Recovery(star(brand("Nord", "nord")))
    assert [(step.status, step.detail) for step in run.trace.steps] == [
        ("ok", "Nothing with another relation instead of “by”."),
        ("degraded", "No exact match; similar texts follow."),
    ]
    assert (run.plans, run.candidates()) == (run.before, {})


def test_what_another_relation_joins_is_near() -> None:
    """Nothing is "by" a review, but another relation joins the review with the mug."""
    review = Anchor("r", "A review", "review", ids=("review",))
    run = Recovery(Plan((review,), (Hop("T", "by", "r", "review", "out"),), Target("T", ("product",))))
    assert run.said == ["Found with any relation instead of “by”, which counts as text now."]
    assert run.candidates() == {"mug": 1.0}
    [plan] = run.plans
    assert (plan.probability, plan.plan.target.relevance_text) == (0.5, "by")


def test_of_two_relations_the_first_that_may_be_another_one_is_left_open() -> None:
    """The kinds of what is "in" a review: the review is of a mug, by another relation, and the mug is of a kind."""
    hops = (Hop("T", "in", "x", "product", "in"), Hop("x", "in", "r", "review", "out"))
    review = Anchor("r", "A review", "review", ids=("review",))
    run = Recovery(Plan((review,), hops, Target("T", ("kind",))))
    assert run.said == [
        "Nothing with another relation instead of “in”.",
        "Found with any relation instead of “in”, which counts as text now.",
    ]
    assert run.candidates() == {"kitchen": 1.0}


def test_the_next_plan_is_changed_when_the_first_cannot_be() -> None:
    run = Recovery(star(brand("Nord", "nord")), star(kind("lights"), brand("Nord", "nord")))
    assert run.said == [
        "Nothing with another relation instead of “by”.",
        "Plan 2: By itself, “Nord” (brand) finds nothing.",
        "Plan 2: Found after dropping “Nord” (brand), which counts as text now.",
    ]
    assert (run.candidates(0), run.candidates(1)) == ({}, {"lamp": 1.0, "torch": 1.0})
    assert [plan.index for plan in run.plans] == [0, 1]


def test_ids_of_no_node_leave_the_text_to_be_looked_up() -> None:
    run = Recovery(star(brand("Oster", "gone")))
    assert run.said == ["Found with further matches for “Oster”."]
    # Twice K is two: Ostervik's lamp and Österby's torch.
    assert run.candidates() == {"lamp": 0.80, "torch": 0.79}


def test_ids_that_a_person_picked_are_kept() -> None:
    assert "matches" not in " ".join(Recovery(star(brand("Oster", "nord"), kind("lights"))).said)


def test_switched_off_it_only_says_so() -> None:
    run = Recovery(star(kind("lights"), brand("Nord", "nord")), on=False)
    assert [(step.status, step.detail) for step in run.trace.steps] == [
        ("skipped", "No exact match, and recovery is switched off; similar texts follow.")
    ]
    assert run.plans is run.before


def test_attempts_are_counted() -> None:
    run = Recovery(star(kind("lights"), brand("Nord", "nord")), attempts=1)
    assert len(run.said) == 2
    assert run.candidates() == {}


def test_when_its_time_is_over_it_stops_and_says_so() -> None:
    with pytest.raises(DeadlineExceeded, match="the time for further attempts ran out"):
        Recovery(star(kind("lights"), brand("Nord", "nord")), limit=Limit(ends=time.monotonic()))


def test_an_attempt_that_fails_takes_no_other_with_it() -> None:
    class FailsOnce(TriesEverything):
        def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
            found = super().execute(linked, limit, rows)
            if self.asked == 1:
                raise StageError("graph", "the engine was away")
            return found

    run = Recovery(star(kind("lights"), brand("Nord", "nord")), graph=FailsOnce(GRAPH))
    # What finds nothing by itself is not known then, so that either may go: Nord first, which is named last.
    assert run.said == [
        "An attempt failed: the engine was away.",
        "Found after dropping “Nord” (brand), which counts as text now.",
    ]


def test_a_cancelled_search_stops() -> None:
    with pytest.raises(SearchCancelled):
        Recovery(star(kind("lights"), brand("Nord", "nord")), limit=Limit(cancelled=lambda: True))


@pytest.mark.parametrize("mode", ["skip", "document search", "cut off"])
def test_plans_that_need_no_recovery_get_none(mode: str) -> None:
    plan = star(brand("Nord", "nord"), retrieval_mode="skip" if mode == "skip" else None)
    if mode == "document search":
        plan = Plan((Anchor("T", "a warm light", "product", "doc"),), target=Target("T", ("product",)))
    linked = LinkedPlan(plan, (Binding("b", NODES[6], 1.0),))
    found = [Traversal(0, "test", (), truncated=mode == "cut off")]
    trace = Trace()
    Recover()([linked], found, _never, _never, trace, Limit())
    assert trace.steps == []


def test_what_was_changed_is_recorded_with_what_it_found() -> None:
    run = Recovery(star(kind("lights"), brand("Nord", "nord")))
    recorded = run.trace.output("recover")
    assert (recorded["plan_index"], recorded["dropped"]) == (0, ["by Nord"])
    assert recorded["given"] == run.before[0].plan.to_json()
    assert recorded["plan"] == run.plans[0].plan.to_json()
    assert recorded["traversal"]["total"] == 2
    assert [entry["anchor"] for entry in recorded["linked"]] == ["k"]
    assert all(step.seconds > 0 for step in run.trace.steps)


def _never(*args: object) -> list[object]:
    raise AssertionError("nothing is to be looked up or executed")


@given(st.lists(st.sets(st.integers(0, 4), max_size=3), min_size=2, max_size=5))
def test_as_few_conditions_are_dropped_as_will_do(points_to: Sequence[set[int]]) -> None:
    # Five answers; each anchor points to some of them. By hand: as many can stay as point to one answer at most.
    anchors = [Node(5 + at, f"a{at}", "kind", f"A{at}") for at in range(len(points_to))]
    answers = [Node(key, f"t{key}", "product", f"T{key}") for key in range(5)]
    edges = tuple((5 + at, "in", key) for at, keys in enumerate(points_to) for key in sorted(keys))
    graph = Graph((*answers, *anchors), edges)
    most = max(sum(key in keys for keys in points_to) for key in range(5))
    plan = Plan(
        tuple(Anchor(f"v{at}", f"A{at}") for at in range(len(anchors))),
        tuple(Hop(f"v{at}", "in", "T") for at in range(len(anchors))),
    )
    linked = LinkedPlan(plan, tuple(Binding(f"v{at}", node, 1.0) for at, node in enumerate(anchors)))
    traverse = Traverse(TriesEverything(graph))

    def same(plans: Sequence[ScoredPlan], limit: Limit, reach: object = None) -> list[LinkedPlan]:
        return [linked]

    plans, several = Recover(attempts=100)([linked], traverse([linked], Limit()), same, traverse, Trace(), Limit())
    if most == 0:
        assert [found.candidates for found in several] == [()]
        return
    for at, (changed, found) in enumerate(zip(plans, several, strict=True)):
        assert (changed.index, found.plan_index, len(changed.plan.anchors)) == (at, at, most)
        assert found.candidates == tuple(Candidate(c.key, pytest.approx(most)) for c in found.candidates)
        assert all(sum(c.key in keys for keys in points_to) == most for c in found.candidates)
