"""A plan as one phrase, and a path as a statement."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.graph import Relation
from search.sentences.paths import path_words
from search.sentences.reading import reading_words

RELATIONS = {
    "HAS_SYMPTOM": Relation("HAS_SYMPTOM", "shows itself by", "is a symptom of"),
    "CITES": Relation("CITES", "cites", "is cited by"),
    "IN_SHOP": Relation("IN_SHOP"),
    "HAS_CITY": Relation("HAS_CITY", "has the city", "lies in"),
}
HEADACHE = {"var": "a", "text": "headache", "label": "symptom"}
OF_HEADACHE = {"from": "a", "rel": "HAS_SYMPTOM", "to_var": "T", "to_label": "disease", "direction": "in"}
CITED = {"count": {"rel": "CITES", "direction": "in", "to_label": "paper"}}


def plan(label: str, anchors: Any = (), hops: Any = (), text: str = "", **more: Any) -> dict[str, Any]:
    return {
        "anchors": list(anchors), "hops": list(hops), "target": {"var": "T", "labels": [label], "relevance_text": text},
    } | more  # fmt: skip


MEAN = {"by": {"count": CITED["count"] | {"function": "mean", "of": "pages"}}, "direction": "desc", "limit": 1}
CITIES = {"rel": "HAS_CITY", "direction": "out", "to_label": "city"}
OF_CITIES = {"by": {"count": CITIES}, "direction": "desc", "limit": 1}
INSIDE = HEADACHE | {"plan": plan("symptom", order={"by": CITED, "direction": "desc", "limit": 1})}


def any_neighbour(rel: str, direction: str, label: str) -> dict[str, Any]:
    return {"var": "T", "op": ">=", "value": 1, "count": {"rel": rel, "direction": direction, "to_label": label}}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (plan("disease", [HEADACHE], [OF_HEADACHE]), "disease that shows itself by “headache”"),
        (plan("state", order=OF_CITIES), "state that has the most cities"),
        (plan("paper", order=MEAN), "paper that has the highest mean pages of papers it is cited by"),
        (plan("symptom", [HEADACHE | {"var": "T"}]), "“headache”, the symptom"),
        (plan("disease", [HEADACHE], [OF_HEADACHE], "rare"), "disease that shows itself by “headache”, about “rare”"),
        (plan("tent", show="weight_g"), "weight of tent"),
        (
            plan("tent", order={"by": {"field": "weight_g"}, "direction": "asc", "limit": 1}, show="price"),
            "price of tent that is the lightest one",
        ),
        (
            plan("tent", order={"by": {"field": "price"}, "direction": "desc", "limit": 3}),
            "tent that is one of the 3 most expensive",
        ),
        (plan("tent", order={"by": {"field": "price"}, "direction": "desc"}), "tent, most expensive first"),
        # What happened, happened first; of pages there are most.
        (
            plan("brand", order={"by": {"field": "founded"}, "direction": "asc", "limit": 1}),
            "brand that was founded first",
        ),
        (
            plan("drug", order={"by": {"field": "approved"}, "direction": "desc", "limit": 2}),
            "drug that is one of the 2 approved last",
        ),
        (
            plan("paper", order={"by": {"field": "pages"}, "direction": "desc", "limit": 1}),
            "paper that has the most pages",
        ),
        (
            plan("tent", filters=[{"var": "T", "field": "released", "op": ">=", "value": "2024-01-02"},
                                  {"var": "T", "field": "price", "op": "<", "value": 20}]),
            "tent released since 2 January 2024 with price under 20",
        ),
        (
            plan("paper", order={"by": CITED, "direction": "desc", "limit": 1}),
            "paper that is cited by the most papers",
        ),
        (plan("disease", [HEADACHE], [OF_HEADACHE], ask="how many"),
         "how many there are: disease that shows itself by “headache”"),
        (plan("tent", ask="mean", show="price"), "mean price of each tent"),
        (plan("tent", ask="whether"), "whether there is any tent"),
        (
            plan("paper", exclude=[{"anchors": [], "hops": [
                {"from": "T", "rel": "CITES", "to_var": "x", "to_label": "*", "direction": "in"}]}]),
            "paper, not “cited by anything”",
        ),
        (
            plan(
                "venue", [], [{"from": "x1", "rel": "IN_SHOP", "to_var": "T", "to_label": "venue"},
                              {"from": "y", "rel": "CITES", "to_var": "x1", "to_label": "paper"}],
                filters=[{"var": "x1", "field": "keywords", "op": "=", "value": "ice"}],
            ),
            "venue with keywords of the paper: ice",
        ),
        # What a plan inside asks for is worded by the schema too.
        (
            plan("disease", [INSIDE], [OF_HEADACHE]),
            "disease that shows itself by the symptom that is cited by the most papers",
        ),
        # Any neighbour will do; a relation that has no words for its other direction is named.
        (plan("paper", filters=[any_neighbour("CITES", "in", "paper")]), "paper that is cited by a paper"),
        (plan("shop", filters=[any_neighbour("IN_SHOP", "in", "*")]), "shop that is “in shop” of something"),
    ],
)  # fmt: skip
def test_a_plan_is_a_phrase_in_words_of_the_base(given: dict[str, Any], said: str) -> None:
    assert reading_words(given, RELATIONS) == said


def path(*parts: tuple[str, str] | str) -> list[dict[str, Any]]:
    return [
        {"node": {"name": part}} if isinstance(part, str) else {"relation": part[0], "direction": part[1]}
        for part in parts
    ]


def test_a_path_is_a_statement_where_the_schema_words_its_relations() -> None:
    assert path_words(path("Flu", ("HAS_SYMPTOM", "out"), "Fever"), RELATIONS) == "Flu shows itself by Fever"
    assert path_words(path("A", ("CITES", "in"), "B", ("CITES", "out"), "C"), RELATIONS) == (
        "A is cited by B, which cites C"
    )
    assert path_words(path("A", ("IN_SHOP", "in"), "B"), RELATIONS) == "A ← in shop — B"
