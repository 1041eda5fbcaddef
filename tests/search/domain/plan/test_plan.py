"""A plan is read with every fault at once, each with its pointer and the name that was probably meant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.errors import PlanInvalid
from search.domain.graph import Field, NodeType, Relation, RelationType, Schema
from search.domain.plan import Anchor, Filter, Hop, Plan, Target

SCHEMA = Schema(
    node_types=(
        NodeType("film", 3, (Field("year", "number"), Field("plot", "text"), Field("released", "date"))),
        NodeType("person", 2, (Field("born", "date"), Field("job", "keyword"))),
    ),
    relations=(Relation("directed_by"), Relation("acted_in")),
    relation_types=(RelationType("film", "directed_by", "person", 3),),
)
VALID: dict[str, Any] = {
    "anchors": [{"var": "a", "text": "Ada", "label": "person", "match_mode": "name"}],
    "hops": [{"from": "a", "rel": "acted_in", "to_var": "T", "to_label": "film", "direction": "out"}],
    "target": {"var": "T", "labels": ["film"], "relevance_text": "in space"},
    "filters": [{"var": "T", "field": "year", "op": ">=", "value": 1990}],
    "risk_level": "aggressive",
    "retrieval_mode": "graph_expand",
}


def faults(data: object) -> dict[str, tuple[str, str | None]]:
    with pytest.raises(PlanInvalid) as caught:
        Plan.parse(data, SCHEMA)
    return {fault.pointer: (fault.message, fault.nearest) for fault in caught.value.faults}


def changed(**parts: Any) -> dict[str, Any]:
    return VALID | parts


def hop(**parts: Any) -> dict[str, Any]:
    return VALID["hops"][0] | parts


def condition(**parts: Any) -> dict[str, Any]:
    return changed(filters=[VALID["filters"][0] | parts])


def test_a_valid_plan_is_read_and_written_back_equal() -> None:
    plan = Plan.parse(VALID, SCHEMA)
    assert plan == Plan(
        (Anchor("a", "Ada", "person"),),
        (Hop("a", "acted_in", "T", "film", "out"),),
        Target("T", ("film",), "in space"),
        (Filter("T", "year", ">=", 1990),),
        "aggressive",
        "graph_expand",
    )
    assert plan.to_json() == VALID
    assert Plan.parse(plan.to_json(), SCHEMA) == plan


def test_only_the_target_is_needed() -> None:
    assert Plan.parse({"target": {"var": "T"}}, SCHEMA) == Plan()


def test_every_fault_is_reported_at_once() -> None:
    found = faults({
        "anchors": [{"var": "a", "text": "Ada", "label": "persn", "match_mode": "nam"}],
        "hops": [{"from": "a", "rel": "acted", "to_var": "T", "to_label": "movie", "direction": "up"}],
        "target": {"var": "T", "labels": ["films"]},
        "risk": "weak",
    })  # fmt: skip
    assert {pointer: nearest for pointer, (_, nearest) in found.items()} == {
        "/anchors/0/label": "person",
        "/anchors/0/match_mode": "name",
        "/hops/0/rel": "acted_in",
        "/hops/0/to_label": None,
        "/hops/0/direction": None,
        "/target/labels/0": "film",
        "/risk": "risk_level",
    }
    assert "Did you mean 'person'?" in found["/anchors/0/label"][0]


@pytest.mark.parametrize(("data", "kind"), [(None, "nothing"), ([], "a list"), ("x", "a string"), (3, "a number")])
def test_what_is_no_object_is_no_plan(data: object, kind: str) -> None:
    assert faults(data) == {"": (f"A plan is a JSON object, not {kind}.", None)}


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        (changed(anchors={}), "/anchors"),
        (changed(anchors=[3]), "/anchors/0"),
        (changed(anchors=[{"var": "a"}]), "/anchors/0/text"),
        (changed(anchors=[{"var": "a", "text": " "}]), "/anchors/0/text"),
        (changed(anchors=[{"var": "a", "text": "x" * 2_001}]), "/anchors/0/text"),
        (changed(anchors=[{"var": "a", "text": "nul\x00"}]), "/anchors/0/text"),
        (changed(anchors=[{"var": "a", "text": "half \ud83d"}]), "/anchors/0/text"),
        (changed(anchors=[{"var": "a", "text": "Ada", "ids": "n1"}]), "/anchors/0/ids"),
        (changed(anchors=[{"var": "a", "text": "Ada", "ids": ["\x00"]}]), "/anchors/0/ids"),
        (changed(anchors=[{"var": "", "text": "Ada"}]), "/anchors/0/var"),
        (changed(anchors=[{"var": "a\n", "text": "Ada"}]), "/anchors/0/var"),
        (changed(anchors=[{"var": "a", "text": "Ada", "a/b~": 1}]), "/anchors/0/a~1b~0"),
        (changed(anchors=[{"var": "a", "text": "Ada"}] * 7), "/anchors"),
        (changed(hops=[hop()] * 7), "/hops"),
        (changed(hops=[hop(rel=None)]), "/hops/0/rel"),
        (changed(target=None), "/target"),
        (changed(target={"var": "T", "labels": 3}), "/target/labels"),
        (changed(risk_level="bold"), "/risk_level"),
        (changed(retrieval_mode="doc"), "/retrieval_mode"),
        (condition(op="~"), "/filters/0/op"),
        ({**VALID, "filters": [{"var": "T", "field": "year", "op": "="}]}, "/filters/0/value"),
    ],
)
def test_a_fault_of_form_has_its_pointer(data: object, pointer: str) -> None:
    assert list(faults(data)) == [pointer]


@pytest.mark.parametrize(
    ("parts", "pointer"),
    [
        ({"field": "yeer"}, "/filters/0/field"),
        ({"field": "job"}, "/filters/0/field"),
        ({"var": "x"}, "/filters/0/var"),
        ({"op": "contains", "value": "9"}, "/filters/0/op"),
        ({"value": "1990"}, "/filters/0/value"),
        ({"value": True}, "/filters/0/value"),
        ({"value": None}, "/filters/0/value"),
        ({"value": float("nan")}, "/filters/0/value"),
        ({"value": 10**400}, "/filters/0/value"),
        ({"op": "between", "value": 1990}, "/filters/0/value"),
        ({"op": "between", "value": [1990]}, "/filters/0/value"),
        ({"op": "in", "value": list(range(201))}, "/filters/0/value"),
        ({"field": "plot", "op": "<", "value": "a"}, "/filters/0/op"),
        ({"field": "plot", "op": "contains", "value": "\x00"}, "/filters/0/value"),
        ({"field": "released", "op": "<", "value": 1990}, "/filters/0/value"),
        ({"field": "released", "op": "<", "value": "spring 1990"}, "/filters/0/value"),
        ({"field": "released", "op": ">=", "value": "1990-13"}, "/filters/0/value"),
        ({"field": "released", "op": "in", "value": ["1990", "90"]}, "/filters/0/value"),
        ({"op": "between", "value": [1999, 1990]}, "/filters/0/value"),
        ({"field": "released", "op": "between", "value": ["1999", "1990-05-01"]}, "/filters/0/value"),
    ],
)
def test_a_filter_that_does_not_fit_its_field_is_a_fault(parts: dict[str, Any], pointer: str) -> None:
    assert pointer in faults(condition(**parts))


@pytest.mark.parametrize(
    "parts",
    [
        {"op": "between", "value": [1990, 1999.5]},
        {"op": "in", "value": [1990, 1991]},
        {"field": "name", "op": "=", "value": "Alien"},
        {"field": "released", "op": "<", "value": "1990-01-01"},
        {"field": "released", "op": "between", "value": ["1990", "1990-05"]},
        {"field": "released", "op": "=", "value": "1990-05-01T10:30:00Z"},
        {"field": "released", "op": "contains", "value": "-05-"},
        {"field": "plot", "op": "contains", "value": "space"},
        {"var": "a", "field": "job", "op": "=", "value": "actor"},
    ],
)
def test_a_filter_that_fits_its_field_is_taken(parts: dict[str, Any]) -> None:
    assert Plan.parse(condition(**parts), SCHEMA).filters[0].to_json() == VALID["filters"][0] | parts


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        (changed(anchors=[], filters=[]), "/anchors"),
        (changed(anchors=VALID["anchors"] * 2), "/anchors/1/var"),
        (changed(anchors=[*VALID["anchors"], {"var": "b", "text": "Bo"}]), "/anchors/1/var"),
        (changed(hops=[hop(to_var="x")]), "/target/var"),
        (changed(hops=[hop(), hop(**{"from": "x", "to_var": "y"})]), "/hops/1/from"),
        (changed(hops=[hop(), hop(**{"from": "T", "to_var": "T"})]), "/hops/1/to_var"),
    ],
)
def test_a_plan_that_cannot_be_executed_as_a_whole_is_a_fault(data: object, pointer: str) -> None:
    assert pointer in faults(data)


def test_a_variables_types_are_those_that_every_place_allows() -> None:
    plan = Plan(
        (Anchor("a", "x", "person"), Anchor("b", "y")),
        (Hop("a", "*", "T", "film"), Hop("T", "*", "b", "person"), Hop("b", "*", "a")),
        Target("T", ("film", "person")),
    )
    assert plan.labels_of == {"a": (("person",),), "T": (("film",), ("film", "person")), "b": (("person",),)}
    assert plan.variables == ("a", "b", "T")


def test_a_branch_is_an_anchors_own_chain_with_its_filters() -> None:
    hops = (Hop("a", "r", "x"), Hop("x", "r", "T"), Hop("b", "r", "y"), Hop("y", "r", "T"), Hop("T", "r", "z"))
    filters = (Filter("x", "name", "=", "1"), Filter("y", "name", "=", "2"), Filter("T", "name", "=", "3"))
    plan = Plan((Anchor("a", "A"), Anchor("b", "B")), hops, Target("T"), filters)
    branch = plan.branch("a")
    assert branch.anchors == (Anchor("a", "A"),)
    assert branch.hops == hops[:2]
    assert branch.filters == (filters[0], filters[2])
    assert branch.target == plan.target


def test_a_branch_takes_one_of_two_equal_hops() -> None:
    twice = (Hop("a", "r", "T"), Hop("a", "r", "T"))
    assert Plan((Anchor("a", "A"),), twice).branch("a").hops == twice[:1]


def test_the_branch_of_an_anchor_that_is_the_target_has_no_hops() -> None:
    assert Plan((Anchor("T", "A"),), (Hop("T", "r", "x"),)).branch("T").hops == ()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*VALID, "x"]), json_values), st.data())
def test_whatever_is_given_becomes_a_plan_or_a_list_of_faults(data: dict[str, Any], more: st.DataObject) -> None:
    for key in ("anchors", "hops", "filters"):
        names = st.sampled_from(("var", "text", "label", "from", "to_var", "rel", "field", "op", "value", "ids"))
        data[key] = more.draw(json_values | st.lists(st.dictionaries(names, json_values), max_size=2))
    data["target"] = more.draw(json_values | st.just({"var": "T"}))
    try:
        plan = Plan.parse(data, SCHEMA)
    except PlanInvalid as error:
        reported = error.faults
    else:
        assert Plan.parse(plan.to_json(), SCHEMA) == plan
        return
    assert reported
    assert all(fault.message.endswith((".", "?")) for fault in reported)


def test_what_a_date_has_to_look_like_is_said() -> None:
    said = faults(condition(field="released", op="<", value="spring 1990"))
    assert said["/filters/0/value"][0] == "released holds a date as YYYY, YYYY-MM or YYYY-MM-DD, not 'spring 1990'."
