"""Parts of a plan in words."""

from typing import Any

import pytest

from search.domain.graph import Relation
from search.plan_words import exclusion_words, filter_words

RELATIONS = {"CITES": Relation("CITES", "cites", "is cited by"), "PART_OF": Relation("PART_OF")}


@pytest.mark.parametrize(
    ("hop", "expected"),
    [
        ({"from": "T", "rel": "CITES", "to_var": "x", "direction": "out"}, "cites anything"),
        ({"from": "T", "rel": "CITES", "to_var": "x", "direction": "in"}, "cited by anything"),
        ({"from": "x", "rel": "CITES", "to_var": "T", "direction": "out"}, "cited by anything"),
        ({"from": "x", "rel": "CITES", "to_var": "T", "direction": "in"}, "cites anything"),
        ({"from": "T", "rel": "CITES", "to_var": "x"}, "cites anything"),
        ({"from": "T", "rel": "PART_OF", "to_var": "x", "direction": "in"}, "“part of” of anything"),
        ({"from": "T", "rel": "GONE", "to_var": "x", "direction": "in"}, "gone anything"),
        ({"from": "T", "rel": "*", "to_var": "x", "direction": "in"}, "any relation anything"),
    ],
)
def test_an_exclusion_reads_in_the_direction_in_which_it_is_walked(hop: dict[str, Any], expected: str) -> None:
    pattern = {"anchors": [], "hops": [hop | {"to_label": "*"}]}
    assert exclusion_words(pattern, {"T": "T"}, RELATIONS) == expected


@pytest.mark.parametrize(
    ("field", "op", "value", "said"),
    [
        ("features", "=", "waterproof", "features: waterproof"),
        ("features", "!=", "waterproof", "features: not waterproof"),
        ("colour", "in", ["red", "blue"], "colour: red or blue"),
        ("colour", "not in", ["red", "blue"], "colour: not red or blue"),
        ("price", "<", 50, "price under 50"),
        ("weight_g", "<=", 300, "weight at most 300 g"),
        ("half_life_hours", ">", 1, "half life over 1 hour"),
        ("weight_g", "between", [100, 300], "weight between 100 and 300 g"),
        ("weight_g", "between", [300, 2000], "weight between 300 g and 2 kg"),
        ("price_eur", "<", 49.5, "price under 49.50 €"),
        ("opened", ">", "2021-03-02", "opened after 2 March 2021"),
        ("released", "<", "2020", "released before 2020"),
        ("founded", ">=", 1900, "founded since 1900"),
        ("year", "=", 2019, "year: 2019"),
        ("place", "contains", "Sweden", "place contains Sweden"),
        ("price", "exists", None, "price known"),
        ("price", "missing", None, "price not known"),
        ("price", "<", {"var": "a", "field": "price"}, "price under that of Alba"),
        ("price", "<", {"var": "a", "field": "list_price"}, "price under list price of Alba"),
    ],
)
def test_a_filter_is_said_in_plain_words(field: str, op: str, value: Any, said: str) -> None:
    assert filter_words({"var": "T", "field": field, "op": op, "value": value}, variables={"a": "Alba"}) == said


def test_a_filter_says_of_what_it_is_and_what_it_counts() -> None:
    founded = {"var": "b", "field": "founded", "op": "<", "value": 1900}
    assert filter_words(founded, "brand") == "founded of brand before 1900"
    many = {"var": "T", "field": "", "op": ">", "value": 3, "count": {"rel": "CITES", "direction": "in"}}
    assert filter_words(many) == "number of things it cites over 3"
