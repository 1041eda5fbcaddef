"""When two plans ask the same of a graph, and when no graph of a schema can answer one."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.plan import Plan
from search.domain.plan.normal_form import contradictions, normal_form, possible_types
from tests.search.domain.shop import SHOP


def plan(*hops: str, anchors: str = "A1=Brannholt:brand", target: str = "T:product", **rest: Any) -> Plan:
    """Return a plan from a short notation: hops as `A1 -HAS_BRAND- T:product`, `-REL>` and `<REL-` with directions."""
    written = []
    for hop in hops:
        source, middle, end = hop.split()
        to_var, _, label = end.partition(":")
        item = {"from": source, "rel": middle.strip("-<>"), "to_var": to_var, "to_label": label or "*"}
        if middle.endswith(">") or middle.startswith("<"):
            item["direction"] = "out" if middle.endswith(">") else "in"
        written.append(item)
    var, _, label = target.partition(":")
    parts = [anchor.replace("=", ":").split(":") for anchor in anchors.split(", ") if anchor]
    data = {
        "anchors": [{"var": v, "text": text, "label": label} for v, text, label in parts],
        "hops": written,
        "target": {"var": var, "labels": [label] if label else []},
        **rest,
    }
    return Plan.parse(data, SHOP)


SIMPLE = plan("A1 -HAS_BRAND- T:product")


@pytest.mark.parametrize(
    "same",
    [
        plan("X -HAS_BRAND- answer:product", anchors="X=brannholt:brand", target="answer:product"),
        plan("T -HAS_BRAND- A1:brand"),
        plan("A1 <HAS_BRAND- T:product"),
        plan("A1 -HAS_BRAND- T", target="T"),
        plan("A1 -HAS_BRAND- T:product", anchors="A1=Brannholt:*"),
        plan("A1 -HAS_BRAND- T:product", "T -HAS_BRAND- A1:brand"),
        plan("A1 -HAS_BRAND- T:product", risk_level="weak"),
    ],
)
def test_variables_order_writing_direction_and_what_follows_from_the_schema_make_no_difference(same: Plan) -> None:
    assert normal_form(same, SHOP) == normal_form(SIMPLE, SHOP)


@pytest.mark.parametrize(
    "other",
    [
        plan("A1 -HAS_BRAND- T:product", anchors="A1=Tessaly:brand"),
        plan("A1 -HAS_BRAND- P:product", "P -ALSO_BUY- T:product"),
        plan("A1 -HAS_BRAND- T:product", filters=[{"var": "T", "field": "price", "op": "<", "value": 5}]),
        plan(anchors="A1=Brannholt:brand", target="A1:brand"),
    ],
)
def test_another_anchor_hop_filter_or_target_does(other: Plan) -> None:
    assert normal_form(other, SHOP) != normal_form(SIMPLE, SHOP)


def test_a_direction_counts_where_a_relation_joins_a_type_with_itself() -> None:
    forms = {
        normal_form(plan(hop, anchors="A1=Lamp:product"), SHOP)
        for hop in ("A1 -REPLACES> T:product", "A1 <REPLACES- T:product", "A1 -REPLACES- T:product")
    }
    assert len(forms) == 3


def test_the_same_edge_from_its_other_end_has_the_other_direction() -> None:
    one = plan("A1 -REPLACES> T:product", anchors="A1=Lamp:product")
    other = plan("T <REPLACES- A1:product", anchors="A1=Lamp:product")
    assert normal_form(one, SHOP) == normal_form(other, SHOP)


def test_two_anchors_in_either_order_are_the_same_and_crossed_over_are_not() -> None:
    hops = ("A1 -HAS_BRAND- T:product", "A2 -USED_FOR- T:product")
    one = plan(*hops, anchors="A1=Brannholt:brand, A2=rain:field_of_use")
    other = plan(*reversed(hops), anchors="A2=rain:field_of_use, A1=Brannholt:brand")
    two_products = ("A1 -ALSO_BUY- T:product", "A2 -REPLACES> T:product")
    crossed = [plan(*two_products, anchors=f"A1={a}:product, A2={b}:product") for a, b in (("x", "y"), ("y", "x"))]
    assert normal_form(one, SHOP) == normal_form(other, SHOP)
    assert normal_form(crossed[0], SHOP) != normal_form(crossed[1], SHOP)


def test_types_are_narrowed_along_the_hops() -> None:
    chain = plan("A1 -BASED_IN- B", "B -HAS_BRAND- T", anchors="A1=Norway:*", target="T")
    assert possible_types(chain, SHOP) == {
        "A1": frozenset({"country"}), "B": frozenset({"brand"}), "T": frozenset({"product"})
    }  # fmt: skip


def test_a_relation_that_does_not_join_the_types_is_a_contradiction_with_the_relation_that_does() -> None:
    [fault] = contradictions(plan("A1 -USED_FOR- T:product"), SHOP)
    assert fault.pointer == "/hops/0/rel"
    assert fault.nearest == "HAS_BRAND"
    assert fault.message == "USED_FOR does not lead from brand to product. Between them there is HAS_BRAND."


def test_types_that_no_relation_joins_are_said_to_be_apart() -> None:
    [fault] = contradictions(plan("A1 -BASED_IN- T:product"), SHOP)
    assert "BASED_IN does not lead from brand to product" in fault.message
    [apart] = contradictions(plan("A1 -BASED_IN- T:field_of_use", target="T:field_of_use"), SHOP)
    assert apart.message.endswith("No relation joins them.")


def test_a_variable_of_two_types_is_a_contradiction_where_it_is_written() -> None:
    [fault] = contradictions(plan("A1 -HAS_BRAND- T:product", target="T:country"), SHOP)
    assert fault.pointer == "/target/labels"


def test_hops_that_cannot_follow_each_other_are_a_contradiction() -> None:
    [fault] = contradictions(plan("A1 -USED_FOR- X", "X -BASED_IN- T", anchors="A1=Lamp:product", target="T"), SHOP)
    assert fault.pointer == "/hops"
    assert contradictions(SIMPLE, SHOP) == []
