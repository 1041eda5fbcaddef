"""What is mended in a written plan before it is parsed, what is said about it, and what is left alone."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.domain.errors import PlanInvalid
from search.domain.graph import NodeType
from search.domain.mending import mend
from search.domain.plan import Plan
from tests.search.domain.shop import SHOP

GOOD: dict[str, Any] = {
    "anchors": [{"var": "A1", "text": "Brannholt", "label": "brand", "match_mode": "name"}],
    "hops": [{"from": "A1", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product"}],
    "target": {"var": "T", "labels": ["product"], "relevance_text": ""},
    "risk_level": "normal",
}


def written(**changes: Any) -> dict[str, Any]:
    """Return the good plan with changes: `anchor__label="Brands"` changes the first anchor's label."""
    plan = copy.deepcopy(GOOD)
    for key, value in changes.items():
        part, _, name = key.partition("__")
        if not name:
            plan[part] = value
        elif part == "target":
            plan["target"][name] = value
        else:
            plan[f"{part}s"][0][name] = value
    return plan


def mended(plan: Any) -> Plan:
    return Plan.parse(mend(plan, SHOP)[0], SHOP)


def test_a_plan_without_faults_stays_as_it_is_and_nothing_is_said() -> None:
    plan, said = mend(GOOD, SHOP)
    assert said == []
    assert Plan.parse(plan, SHOP) == Plan.parse(GOOD, SHOP)


@pytest.mark.parametrize("label", ["Product", "PRODUCT", "products", "Products", "item", "Articles", " product "])
def test_case_plural_and_aliases_of_a_type_are_mended_and_said(label: str) -> None:
    plan, said = mend(written(target__labels=[label]), SHOP)
    assert Plan.parse(plan, SHOP).target.labels == ("product",)
    assert said == [f"type {label!r} of target was read as product"]


@pytest.mark.parametrize("label", ["field of use", "Field-Of-Use", "fieldOfUse", "FIELD_OF_USES"])
def test_spaces_underscores_and_humps_make_no_difference(label: str) -> None:
    plan = mend(written(anchor__label=label, hop__rel="USED_FOR"), SHOP)[0]
    assert Plan.parse(plan, SHOP).anchors[0].label == "field_of_use"


@pytest.mark.parametrize("label", ["cities", "Cities", "city"])
def test_a_plural_in_ies_is_mended(label: str) -> None:
    plan = written(anchor__label=label, hop__rel="LIES_IN", hop__to_label="country", target__labels=["country"])
    assert mended(plan).anchors[0].label == "city"


def test_a_type_whose_own_name_is_a_word_for_anything_or_a_plural_is_itself() -> None:
    schema = replace(SHOP, node_types=(*SHOP.node_types, NodeType("entity"), NodeType("new"), NodeType("news")))
    for written_as, name in (("Entity", "entity"), ("News", "news"), ("NEW", "new"), ("entities", "entity")):
        plan = {"target": {"var": "T", "labels": [written_as]}}
        assert Plan.parse(mend(plan, schema)[0], schema).target.labels == (name,)


def test_a_word_that_could_be_two_types_is_left_for_the_parser() -> None:
    with pytest.raises(PlanInvalid, match="There is no type 'company'"):
        mended(written(anchor__label="company"))


@pytest.mark.parametrize("label", ["any", "", None, "Any", "*"])
def test_any_type_is_a_star(label: Any) -> None:
    assert mended(written(anchor__label=label)).anchors[0].label == "*"


@pytest.mark.parametrize(
    "rel", ["has_brand", "Has Brand", "hasBrand", "HAS_BRANDS", "manufacturer", "is made by", "makes"]
)
def test_case_wording_inverse_wording_and_aliases_of_a_relation_are_mended(rel: str) -> None:
    plan, said = mend(written(hop__rel=rel), SHOP)
    assert Plan.parse(plan, SHOP).hops[0].rel == "HAS_BRAND"
    assert said == [f"relation {rel!r} of step 1 was read as HAS_BRAND"]


@pytest.mark.parametrize("rel", ["<-REPLACES-", "^REPLACES", "REPLACES^-1", "inverse of REPLACES", "REPLACES (reverse)",
                                 "is replaced by", "<-[:REPLACES]-"])  # fmt: skip
def test_a_relation_written_backwards_becomes_a_direction_where_that_matters(rel: str) -> None:
    hop = mended(written(anchor__label="product", hop__rel=rel)).hops[0]
    assert (hop.rel, hop.direction) == ("REPLACES", "in")


def test_an_arrow_on_a_relation_that_has_one_way_only_gives_no_direction() -> None:
    hop = mended(written(hop__rel="<-HAS_BRAND-")).hops[0]
    assert (hop.rel, hop.direction) == ("HAS_BRAND", None)


def test_a_wording_of_two_relations_is_settled_by_the_types_it_joins() -> None:
    hop = {"from": "A1", "rel": "is home to", "to_var": "T", "to_label": "city"}
    plan = written(anchor__label="country", hops=[hop], target__labels=["city"])
    assert mended(plan).hops[0].rel == "LIES_IN"


def test_a_wording_of_two_relations_that_types_do_not_settle_is_left_for_the_parser() -> None:
    hop = {"from": "A1", "rel": "is home to", "to_var": "T"}
    with pytest.raises(PlanInvalid, match="There is no relation 'is home to'"):
        mended(written(anchor__label="country", hops=[hop], target__labels=[]))


def test_a_misspelt_relation_is_not_guessed_at() -> None:
    with pytest.raises(PlanInvalid, match="Did you mean 'HAS_BRAND'"):
        mended(written(hop__rel="HAS_BRAMD"))


@pytest.mark.parametrize(
    ("word", "direction"),
    [("outgoing", "out"), ("->", "out"), ("Forward", "out"), ("incoming", "in"), ("<-", "in"), ("reverse", "in"),
     ("either", None), ("both", None), ("", None), (None, None), ("undirected", None)],
)  # fmt: skip
def test_words_for_directions(word: Any, direction: str | None) -> None:
    assert (
        mended(written(anchor__label="product", hop__rel="REPLACES", hop__direction=word)).hops[0].direction
        == direction
    )


def test_a_direction_that_the_schema_only_has_the_other_way_is_turned() -> None:
    plan, said = mend(written(hop__direction="out"), SHOP)
    assert Plan.parse(plan, SHOP).hops[0].direction == "in"
    assert said == ["step 1 ran the wrong way; HAS_BRAND was turned to 'in'"]


@pytest.mark.parametrize(
    ("word", "risk"),
    [("No Trade", "no_trade"), ("no-trade", "no_trade"), ("low", "weak"), ("Medium", "normal"), ("HIGH", "aggressive")],
)
def test_words_for_risk(word: str, risk: str) -> None:
    assert mended(written(risk_level=word)).risk_level == risk


def test_keys_under_other_names_and_commentary_are_read() -> None:
    plan = {
        "reasoning": "The brand is named.",
        "Anchors": {"id": "A1", "name": "Brannholt", "type": "brand", "mode": "exact"},
        "hops": {"source": "A1", "relation": "HAS_BRAND", "to": "T", "toLabel": "product"},
        "answer": {"variable": "T", "type": "product", "relevanceText": "light"},
        "riskLevel": "weak",
    }
    parsed = mended(plan)
    assert parsed.anchors[0].to_json() == {"var": "A1", "text": "Brannholt", "label": "brand", "match_mode": "name"}
    assert parsed.hops[0].to_json() == {"from": "A1", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product"}
    assert (parsed.target.labels, parsed.target.relevance_text, parsed.risk_level) == (("product",), "light", "weak")


@pytest.mark.parametrize(
    "wrap", [lambda plan: [plan], lambda plan: {"plan": plan}, lambda plan: [{"Query Plan": plan}]]
)
def test_a_plan_inside_a_list_or_another_object_is_taken_out(wrap: Any) -> None:
    assert mended(wrap(GOOD)) == Plan.parse(GOOD, SHOP)


def test_a_bare_text_becomes_an_anchor_a_target_and_a_list() -> None:
    plan = mended({"anchors": ["Brannholt"], "hops": GOOD["hops"], "target": "T"})
    assert (plan.anchors[0].var, plan.anchors[0].text, plan.target.var) == ("A1", "Brannholt", "T")
    assert mended(written(target__labels="products")).target.labels == ("product",)


def test_ids_that_a_model_invents_are_left_out() -> None:
    plan, said = mend(written(anchor__ids=["B-17"]), SHOP)
    assert Plan.parse(plan, SHOP).anchors[0].ids == ()
    assert said == ["ids of starting point 1 were left out: a model cannot know them"]


def test_an_unknown_key_that_may_mean_something_is_left_for_the_parser() -> None:
    with pytest.raises(PlanInvalid, match="There is no key 'negated' here"):
        mended(written(hop__negated=True))


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"field": "Price", "op": "at most", "value": "80"}, ("price", "<=", 80)),
        ({"field": "price", "op": "≥", "value": 19.5}, ("price", ">=", 19.5)),
        ({"field": "prices", "op": "range", "value": {"min": 10, "max": 20}}, ("price", "between", [10, 20])),
        ({"field": "colour code", "op": "is", "value": 17}, ("colour_code", "=", "17")),
        ({"field": "colour_code", "op": "==", "value": ["a", "b"]}, ("colour_code", "in", ["a", "b"])),
        ({"field": "colour_code", "op": "one of", "value": "a"}, ("colour_code", "in", ["a"])),
        ({"property": "price", "operator": "less than", "value": "1,000"}, ("price", "<", 1000)),
    ],
)
def test_filters_are_mended(given: dict[str, Any], read: tuple[str, str, Any]) -> None:
    [condition] = mended(written(filters=[{"var": "T", **given}])).filters
    assert (condition.field, condition.op, condition.value) == read


def test_skip_is_a_plan_of_text_alone_that_does_not_trade() -> None:
    plan = mended({"retrieval_mode": "Skip", "anchors": [{"broken": 1}], "hops": "nonsense"})
    assert (plan.anchors, plan.hops, plan.risk_level, plan.retrieval_mode) == ((), (), "no_trade", "skip")


def test_a_document_search_has_one_anchor_in_the_place_of_the_target() -> None:
    plan = mended({"retrieval_mode": "doc search", "target": {"labels": ["product"], "relevance_text": "a quiet fan"}})
    [anchor] = plan.anchors
    assert (anchor.var, anchor.text, anchor.label, anchor.match_mode) == ("T", "a quiet fan", "product", "doc")
    other = written(retrieval_mode="doc_search", hops=[])
    assert mended(other).anchors[0].var == "T"


def test_a_document_search_with_hops_is_one_that_filters() -> None:
    plan, said = mend(written(retrieval_mode="doc_search"), SHOP)
    assert Plan.parse(plan, SHOP).retrieval_mode == "graph_filter_doc"
    assert said == ["doc_search has no steps; the plan has, and was read as graph_filter_doc"]


def test_a_plan_without_anchors_is_answered_by_text() -> None:
    plan = mended({"anchors": [], "hops": [], "target": {"var": "T", "labels": ["item"], "relevance_text": "quiet"}})
    assert (plan.anchors, plan.target.labels) == ((), ("product",))


def test_a_cycle_is_executed_as_written() -> None:
    hops = [
        {"from": "A1", "rel": "has brand", "to_var": "P", "to_label": "product"},
        {"from": "P", "rel": "also buy", "to_var": "T", "to_label": "product"},
        {"from": "T", "rel": "has brand", "to_var": "A1", "to_label": "brand"},
    ]
    plan = mended(written(hops=hops))
    assert [(hop.source, hop.rel, hop.to_var) for hop in plan.hops] == [
        ("A1", "HAS_BRAND", "P"), ("P", "ALSO_BUY", "T"), ("T", "HAS_BRAND", "A1")
    ]  # fmt: skip


def test_a_target_that_no_hop_reaches_is_a_fault() -> None:
    with pytest.raises(PlanInvalid, match="No step reaches the target 'answer'") as caught:
        mended(written(target__var="answer"))
    assert caught.value.faults[0].pointer == "/target/var"


def test_more_than_six_hops_are_a_fault() -> None:
    hops = [
        {"from": f"V{i}" if i else "A1", "rel": "ALSO_BUY", "to_var": f"V{i + 1}", "to_label": "product"}
        for i in range(7)
    ]
    with pytest.raises(PlanInvalid, match="A plan has at most 6 hops, not 7") as caught:
        mended(written(anchor__label="product", hops=hops, target__var="V7"))
    assert caught.value.faults[0].pointer == "/hops"


def test_what_is_given_is_not_changed() -> None:
    given_plan = written(anchor__label="Brands", hop__rel="makes", target__labels="items")
    before = copy.deepcopy(given_plan)
    mend(given_plan, SHOP)
    assert given_plan == before


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=12)
    | st.sampled_from(["product", "HAS_BRAND", "T", "A1", "in", "between", "skip", "doc_search"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["anchors", "hops", "target", "filters", "var", "text", "label", "labels", "from", "rel",
                         "to_var", "to_label", "direction", "field", "op", "value", "risk_level", "retrieval_mode",
                         "plan", "x"]),
        inner, max_size=6,
    ),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=150)
@given(json_values)
def test_whatever_is_given_mending_ends_in_a_plan_or_in_faults(value: Any) -> None:
    data, said = mend(value, SHOP)
    assert all(isinstance(what, str) for what in said)
    plan = parsed(data)
    assert plan is None or parsed(mend(plan.to_json(), SHOP)[0]) == plan


def parsed(data: object) -> Plan | None:
    """Return the plan, None where it has faults; any other error fails the test."""
    try:
        return Plan.parse(data, SHOP)
    except PlanInvalid:
        return None


@pytest.mark.parametrize(
    ("word", "ask"),
    [
        ("average", "mean"), ("AVG", "mean"), ("total", "sum"), ("Sum", "sum"), ("minimum", "min"), ("highest", "max"),
        ("count", "how many"),
    ],
)  # fmt: skip
def test_words_for_what_is_asked_and_the_field_that_is_asked_for(word: str, ask: str) -> None:
    mended, said = mend(written(ask=word, show="Price"), SHOP)
    plan = Plan.parse(mended, SHOP)
    assert (plan.ask, plan.show) == (ask, "price")
    assert "field 'Price' to show was read as price" in said


def test_a_field_to_show_that_is_none_is_left_for_the_parser() -> None:
    for show in ("prize of it", "", 3, ["price"], None):
        mended, _ = mend(written(show=show), SHOP)
        assert isinstance(mended, dict)
        assert mended.get("show") == show


@pytest.mark.parametrize("depth", [3, 50, 280])
def test_a_plan_that_is_nested_too_deep_is_left_for_the_parser(depth: int) -> None:
    nested: dict[str, Any] = {"target": {"var": "B", "labels": ["brand"]}, "order": {"by": {"field": "founded"}}}
    for _ in range(depth):
        nested = {
            "anchors": [{"var": "b", "plan": nested}], "hops": [{"from": "T", "rel": "ALSO_BUY", "to_var": "b"}],
            "target": {"var": "T", "labels": ["product"]},
        }  # fmt: skip
    mended, _ = mend(nested, SHOP)
    with pytest.raises(PlanInvalid) as caught:
        Plan.parse(mended, SHOP)
    assert [(fault.pointer, fault.message) for fault in caught.value.faults] == [
        ("/anchors/0/plan/anchors/0/plan/anchors/0/plan", "Plans are nested at most 3 deep; this one would be deeper."),
    ]
