"""The answer of a search: a list, a number, an aggregate, yes, no or unknown, and whether it is complete."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.aggregates import Aggregated
from search.domain.linking import Traversal
from search.domain.payloads import Links, Plans, Traversals
from search.domain.payloads.lists import Listed
from search.domain.payloads.plans import BoundAnchor, BoundNode, PlanEntry, Traversed
from search.domain.plan import Anchor, Ask, Exclusion, Plan, Target
from search.domain.ranking import Candidate
from search.services.searches.answer import answer_of


def answer(
    ask: Ask, count: int | None, *, cut: bool = False, bound: bool = True, changed: bool = False, left: str = ""
) -> dict[str, Any]:
    """The answer where a plan of one anchor found `count` nodes; None: it was not executed."""
    plan = Plan((Anchor("a", "Ada"),), target=Target(relevance_text=left), ask=ask)
    found = () if count is None else (Traversed(0, "test", Listed((), (), count), truncated=cut),)
    nodes = (BoundNode("n1", "person", "Ada", 1.0),) if bound else ()
    return answer_of(
        Plans((PlanEntry(plan, "user", 1.0, given=plan if changed else None),)),
        Links(((BoundAnchor(0, "a", nodes),),)),
        Traversals(found),
        0,
    )


def mean_price(computed: Aggregated | None, found: int = 3, **how: Any) -> dict[str, Any]:
    """The answer where the mean price of the answers is asked for, of which `found` are candidates."""
    plan = Plan((Anchor("a", "Ada"),), target=Target(relevance_text=how.get("left", "")), ask="mean", show="price")
    cut, changed = how.get("cut", False), plan if how.get("changed") else None
    traversed = Traversed(0, "test", Listed((), (), found), truncated=cut, aggregate=computed)
    bound = Links(((BoundAnchor(0, "a", (BoundNode("n1", "person", "Ada", 1.0),)),),))
    plans = Plans((PlanEntry(plan, "user", 1.0, given=changed),))
    return answer_of(plans, bound, Traversals.from_json(Traversals((traversed,)).to_json()), 0)


def of_price(value: float | None, nodes: int) -> dict[str, Any]:
    return {"function": "mean", "field": "price", "value": value, "nodes": nodes}


def test_a_count_is_exact_where_the_engine_counted_more_than_it_lists() -> None:
    plan = Plan((Anchor("a", "Ada"),), ask="how many")
    bound = Links(((BoundAnchor(0, "a", (BoundNode("n1", "person", "Ada", 1.0),)),),))
    candidates = tuple(Candidate(key, 1.0) for key in range(10_000))
    for unlisted, expected in ((2_000, (12_000, True)), (0, (10_000, False))):
        found = Traversal(0, "memory", candidates, truncated=True, unlisted=unlisted)
        # As the list is recorded: the first hundred with their ids.
        recorded = found.to_json() | {"ids": [f"n{key}" for key in range(100)]}
        told = answer_of(Plans((PlanEntry(plan, "user", 1.0),)), bound, Traversals.from_json([recorded]), 0)
        assert (told["value"], told["complete"]) == expected


def test_an_aggregate_is_one_thing_and_counts_all_answers_not_only_the_candidates() -> None:
    # 10,000 candidates of 12,000 answers are kept; the mean is that of all that have a price.
    computed = Aggregated("mean", "price", 2.5, 11_000, 12_000)
    assert mean_price(computed, 10_000, cut=True, left="amber") == {
        "kind": "aggregate", "aggregate": of_price(2.5, 11_000), "count": 12_000, "complete": True, "field": "price",
        "text": "amber",
    }  # fmt: skip


def test_an_aggregate_of_what_was_cut_off_is_not_complete() -> None:
    computed = Aggregated("mean", "price", 2.5, 2, 3, complete=False)
    assert mean_price(computed, cut=True) == {
        "kind": "aggregate", "aggregate": of_price(2.5, 2), "count": 3, "complete": False, "field": "price",
    }  # fmt: skip


def test_an_aggregate_has_no_value_where_no_answer_has_the_field_or_none_is_found() -> None:
    none = {"kind": "aggregate", "aggregate": of_price(None, 0), "complete": True, "field": "price"}
    assert mean_price(Aggregated("mean", "price", None, 0, 3)) == none | {"count": 3}
    assert mean_price(Aggregated("mean", "price", None, 0, 0), 0) == none | {"count": 0}
    # What a changed plan found is not what was asked for.
    del none["field"]
    assert mean_price(Aggregated("mean", "price", 2.5, 3, 3), changed=True) == none | {"count": 0}


def test_an_aggregate_that_no_engine_computed_is_not_known() -> None:
    assert mean_price(None, 0, cut=True)["kind"] == "unknown"
    assert mean_price(None, 3)["kind"] == "unknown"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (answer("which", 3), {"kind": "list", "count": 3, "complete": True}),
        (answer("which", 3, cut=True), {"kind": "list", "count": 3, "complete": False}),
        (answer("how many", 3), {"kind": "number", "value": 3, "count": 3, "complete": True}),
        (answer("how many", 0), {"kind": "number", "value": 0, "count": 0, "complete": True}),
        (
            answer("how many", 0, bound=False),
            {"kind": "unknown", "count": 0, "complete": False, "unbound": ["Ada"]},
        ),
        (answer("how many", None), {"kind": "unknown", "count": 0, "complete": False}),
        (answer("whether", 2), {"kind": "yes", "count": 2, "complete": True}),
        (answer("whether", 2, cut=True), {"kind": "yes", "count": 2, "complete": False}),
        (answer("whether", 0), {"kind": "no", "count": 0, "complete": True}),
        (answer("whether", 0, cut=True), {"kind": "unknown", "count": 0, "complete": False}),
        (answer("whether", 0, left="safe"), {"kind": "unknown", "count": 0, "complete": True}),
        (answer("whether", 2, left="safe"), {"kind": "unknown", "count": 2, "complete": True}),
        (answer("which", 3, left="amber"), {"kind": "list", "count": 3, "complete": True, "text": "amber"}),
        (
            answer("how many", 3, left="amber"),
            {"kind": "number", "value": 3, "count": 3, "complete": True, "text": "amber"},
        ),
        (answer("which", 0, left="amber"), {"kind": "list", "count": 0, "complete": True}),
        (
            answer("whether", 0, bound=False),
            {"kind": "unknown", "count": 0, "complete": False, "unbound": ["Ada"]},
        ),
    ],
)
def test_the_answer_says_what_was_asked_and_whether_it_is_known(given: Any, expected: Any) -> None:
    assert given == expected


def test_what_a_changed_plan_found_does_not_answer_the_plan_that_was_asked() -> None:
    assert answer("how many", 7, changed=True) == {"kind": "number", "value": 0, "count": 0, "complete": True}
    assert answer("whether", 7, changed=True)["kind"] == "no"


def test_without_a_plan_there_is_a_list_that_nobody_completed() -> None:
    assert answer_of(Plans(), Links(), Traversals(), None) == {"kind": "list", "count": 0, "complete": False}


def test_nothing_is_certain_where_an_entity_of_the_plan_as_it_was_asked_or_of_an_exclusion_is_not_known() -> None:
    plan = Plan((Anchor("a", "Ada"),), ask="whether", exclude=(Exclusion((Anchor("e", "Esperanto"),)),))
    node = (BoundNode("n1", "person", "Ada", 1.0),)

    def links(ada: Any, esperanto: Any) -> Links:
        return Links(((BoundAnchor(0, "a", ada), BoundAnchor(0, "e", esperanto, exclude=0)),))

    def whether(before: Links, after: Links, *, changed: bool) -> dict[str, Any]:
        plans = Plans((PlanEntry(plan, "user", 1.0, given=plan if changed else None),))
        found = Traversals((Traversed(0, "test", Listed((), (), 0)),))
        return answer_of(plans, after, found, 0, before if changed else None)

    assert whether(links((), node), links(node, node), changed=True)["unbound"] == ["Ada"]
    assert whether(links((), node), links(node, node), changed=True)["kind"] == "unknown"
    assert whether(links(node, ()), links(node, ()), changed=False)["unbound"] == ["Esperanto"]
    assert whether(links(node, ()), links(node, ()), changed=False)["kind"] == "unknown"
    assert whether(links(node, node), links(node, node), changed=True)["kind"] == "no"
