"""Why a plan has no answer, as a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.graph import Relation
from search.sentences.nothing import looked_at_words, nothing_words

RELATIONS = {
    "MADE_OF": Relation("MADE_OF", "is made of", "is the material of"),
    "WRITES": Relation("WRITES", "wrote", "was written by"),
    "WORKS_AT": Relation("WORKS_AT", "works at", "employs"),
}
OAK = {"var": "A1", "text": "oak", "label": "material"}
ADA = {"var": "A2", "text": "Ada", "label": "author"}
DEAREST = {
    "var": "A3", "text": "the dearest chair", "label": "chair",
    "plan": {"anchors": [], "hops": [], "target": {"var": "C", "labels": ["chair"]},
             "order": {"by": {"field": "price"}, "direction": "desc", "limit": 1}},
}  # fmt: skip
OF_OAK = {"from": "A1", "rel": "MADE_OF", "to_var": "T", "to_label": "chair", "direction": "in"}
BY_ADA = {"from": "A2", "rel": "WRITES", "to_var": "T", "to_label": "chair", "direction": "out"}
CHEAP = {"var": "T", "field": "price", "op": "<", "value": 5}
LIGHT = {"var": "T", "field": "features", "op": "=", "value": "foldable"}
NOT_ADA = {"anchors": [ADA], "hops": [{**BY_ADA, "to_label": "*"}]}


def plan(anchors: list[dict[str, Any]], hops: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"anchors": anchors, "hops": hops, "target": {"var": "T", "labels": ["chair"]}} | more


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (plan([OAK, ADA], [OF_OAK, BY_ADA]), "No chair both is made of “oak” and was written by “Ada”."),
        (
            plan([OAK, ADA], [OF_OAK, BY_ADA], filters=[CHEAP]),
            "No chair with price under 5 both is made of “oak” and was written by “Ada”.",
        ),
        (plan([], [], filters=[CHEAP]), "No chair with price under 5."),
        (plan([], [], filters=[LIGHT, CHEAP]), "No chair with features: foldable, price under 5."),
        (
            plan([DEAREST], [], filters=[{**CHEAP, "value": {"var": "A3", "field": "price"}}]),
            "No chair with price under that of the dearest chair.",
        ),
        (
            plan([OAK, DEAREST], [OF_OAK], filters=[{**CHEAP, "value": {"var": "A3", "field": "price"}}]),
            "No chair with price under that of the dearest chair is made of “oak”.",
        ),
        (
            plan([{**DEAREST, "var": "A2"}], [{**BY_ADA, "rel": "COPIES"}]),
            "No chair copies the chair that is the most expensive one.",
        ),
        (plan([OAK], [OF_OAK], exclude=[NOT_ADA]), "No chair both is made of “oak” and not “written by Ada”."),
        (
            plan(
                [{"var": "A1", "text": "Nord", "label": "institution"}],
                [
                    {"from": "A1", "rel": "WORKS_AT", "to_var": "x1", "to_label": "author", "direction": "in"},
                    {"from": "x1", "rel": "WRITES", "to_var": "T", "to_label": "chair", "direction": "out"},
                ],
            ),
            "No chair was written by an author that works at “Nord”.",
        ),
        (plan([OAK, {**ADA, "var": "T"}], [OF_OAK]), "“Ada” is no chair that is made of “oak”."),
        (plan([OAK], [{**OF_OAK, "rel": "IN_SHOP"}]), "No chair in shop “oak”."),
    ],
)
def test_the_conditions_that_nothing_meets_are_said_together(given: dict[str, Any], said: str) -> None:
    assert nothing_words(given, RELATIONS) == said


def test_what_was_looked_at_is_said_of_the_name_that_had_to_be_reached() -> None:
    reached = plan([OAK, {**ADA, "var": "T"}], [OF_OAK])
    assert looked_at_words(reached, RELATIONS, found=False) == "We checked whether “Ada” is made of “oak”: no."
    assert looked_at_words(reached, RELATIONS, found=True) == "We checked whether “Ada” is made of “oak”: yes."
    assert looked_at_words(plan([OAK], [OF_OAK]), RELATIONS, found=False) == ""
