"""What two plans have in common, and what was added, removed or changed between them."""

from __future__ import annotations

from dataclasses import replace

from search.domain.plan import Anchor, Exclusion, Filter, Hop, Order, Plan, Target
from search.domain.plan.changes import PlanChange, plan_changes

BEFORE = Plan(
    anchors=(Anchor("A1", "COPD", "disease", "name", ("d1",)),),
    hops=(Hop("A1", "TREATS", "T", "drug", "in"),),
    target=Target("T", ("drug",)),
    filters=(Filter("T", "approved", ">", 2000), Filter("T", "approved", "<", 2015)),
)


def changes(after: Plan, before: Plan = BEFORE) -> list[tuple[str, str, str | None, str | None]]:
    """Return the changes that are not `kept`."""
    found = plan_changes(before, after)
    return [(one.kind, one.part, one.was, one.at) for one in found if one.kind != "kept"]


def test_equal_plans_keep_every_part() -> None:
    kept = [("target", "/target"), ("anchor", "/anchors/0"), ("hop", "/hops/0"), ("filter", "/filters/0"),
            ("filter", "/filters/1")]  # fmt: skip
    assert list(plan_changes(BEFORE, BEFORE)) == [PlanChange("kept", part, at, at) for part, at in kept]  # type: ignore[arg-type]


def test_another_entity_in_the_same_place_is_a_change() -> None:
    other = replace(BEFORE, anchors=(Anchor("A1", "asthma", "disease", "name", ("d2",)),))
    assert changes(other) == [("changed", "anchor", "/anchors/0", "/anchors/0")]


def test_another_entity_over_another_relation_is_added_and_the_first_removed() -> None:
    other = replace(
        BEFORE, anchors=(Anchor("A1", "gene", "gene"),), hops=(Hop("A1", "TARGETED_BY", "T", "drug", "out"),)
    )
    assert changes(other) == [
        ("added", "anchor", None, "/anchors/0"),
        ("added", "hop", None, "/hops/0"),
        ("removed", "anchor", "/anchors/0", None),
        ("removed", "hop", "/hops/0", None),
    ]


def test_a_bound_is_changed_by_a_bound_of_its_side_alone() -> None:
    later = replace(BEFORE, filters=(Filter("T", "approved", "<", 2015), Filter("T", "approved", ">=", 2010)))
    assert changes(later) == [("changed", "filter", "/filters/0", "/filters/1")]
    price = replace(BEFORE, filters=(*BEFORE.filters, Filter("T", "price", "<", 5)))
    assert changes(price) == [("added", "filter", None, "/filters/2")]


def test_exclusion_order_question_and_residual_are_parts() -> None:
    after = replace(
        BEFORE,
        exclude=(Exclusion((Anchor("T", "Salbutamol", "drug"),)),),
        order=Order("approved"),
        ask="how many",
        target=replace(BEFORE.target, relevance_text="warm"),
    )
    assert changes(after) == [
        ("added", "exclude", None, "/exclude/0"),
        ("added", "order", None, "/order"),
        ("added", "ask", None, "/ask"),
        ("added", "text", None, "/target/relevance_text"),
    ]
    assert [kind for kind, *_ in changes(BEFORE, after)] == ["removed"] * 4


def test_every_part_of_both_plans_is_named_once() -> None:
    doubled = replace(BEFORE, filters=(*BEFORE.filters, BEFORE.filters[0]))
    found = plan_changes(doubled, BEFORE)
    assert sorted(one.was for one in found if one.was) == [
        "/anchors/0", "/filters/0", "/filters/1", "/filters/2", "/hops/0", "/target",
    ]  # fmt: skip
    assert [(one.kind, one.was) for one in found if one.kind != "kept"] == [("removed", "/filters/2")]
