"""The answer of a search in sentences, each with the sources that bear it out."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.graph import NodeType, Relation, Schema
from search.domain.payloads import Traversals
from search.domain.payloads.lists import Listed
from search.domain.payloads.plans import Traversed
from search.services.searches.verdict import told
from tests.search.services.searches.described import answer, search

SCHEMA = Schema(
    (NodeType("paper", 9), NodeType("person", 9)),
    (Relation("WROTE", "wrote", "was written by"), Relation("CITES", "cites", "is cited by"), Relation("NEAR")),
    (),
)
BY_ADA = {"hops": [{"from": "a", "rel": "WROTE", "to_var": "T", "to_label": "paper", "direction": "out"}]}
ALL = {"anchors": []}
TEXT = {"target": {"var": "T", "labels": ["paper"], "relevance_text": "whistling"}}
LIGHTEST = {"order": {"by": {"field": "weight_g"}, "direction": "asc", "limit": 1}}
CITED = {"count": {"rel": "CITES", "direction": "in", "to_label": "paper"}}
BY_BOB = {
    "exclude": [
        {
            "anchors": [{"var": "b", "text": "Bob"}],
            "hops": [{"from": "b", "rel": "WROTE", "to_var": "T", "to_label": "paper", "direction": "out"}],
        }
    ]
}


def sentences(
    *given: Any, evidence: dict[str, Any] | None = None, probability: float = 0.9, **more: Any
) -> list[dict[str, Any]]:
    described = search(*given, **{"plan": BY_ADA} | more)
    described["plans"][0]["probability"] = probability
    for result in described["results"]:
        result["evidence"] |= evidence or {}
    written: list[dict[str, Any]] = told(described, Traversals(), SCHEMA)["answer"]["written"]
    return written


def text(*given: Any, **more: Any) -> str:
    return " ".join(one["text"] for one in sentences(*given, **more))


def node(name: str) -> dict[str, Any]:
    return {"node": {"name": name}}


def edge(relation: str, direction: str) -> dict[str, str]:
    return {"relation": relation, "direction": direction}


def computed(value: float | None, count: int, nodes: int) -> dict[str, Any]:
    one = {"function": "mean", "field": "weight_g", "value": value, "nodes": nodes}
    return answer("aggregate", count, aggregate=one, field="weight_g")


EVERY_ONE = "Each of them is a paper that was written by “Ada” [3]."


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (text(answer("list", 2), "++-"), f"Two papers answer this: A [1] and B [2]. {EVERY_ONE}"),
        (
            text(answer("list", 1200), "++++"),
            "1,200 papers answer this: A [1], B [2], C [3] and 1,197 more. "
            "Each of them is a paper that was written by “Ada” [4].",
        ),
        (
            text(answer("list", 30, complete=False), "++"),
            f"At least 30 papers may answer this: A [1], B [2] and 28 more. {EVERY_ONE}",
        ),
        (text(answer("list", 2), "++", probability=0.6),
         f"Two papers probably answer this: A [1] and B [2]. {EVERY_ONE}"),
        (text(answer("list", 1), "+"), "A [1] answers this: it is the only paper that was written by “Ada”."),
        (text(answer("list", 1, complete=False), "+"),
         "A [1] may answer this: it is the paper that was written by “Ada”."),
        (text(answer("list", 1), "+", plan=BY_ADA | TEXT),
         "A [1] may answer this: it is the only paper that was written by “Ada”."),
        (text(answer("list", 86), "++", plan=BY_ADA | TEXT),
         f"86 papers may answer this; the closest by their texts: A [1] and B [2]. {EVERY_ONE}"),
        # What is left out is said.
        (text(answer("list", 1), "+", plan=BY_ADA | BY_BOB),
         "A [1] answers this: it is the only paper that was written by “Ada”, not “written by Bob”."),
        # Orders, with the value that puts an answer first.
        (text(answer("list", 1), "+", plan=ALL | LIGHTEST, evidence={"order": {"value": 160, "place": 1}}),
         "A [1] answers this: it is the paper that is the lightest one (weight 160 g)."),
        (text(answer("list", 2), "++", plan=ALL | LIGHTEST, evidence={"order": {"value": 9, "place": 1}}),
         "Two papers answer this: A (weight 9 g) [1] and B (weight 9 g) [2]. "
         "Each of them is a paper that is the lightest one [3]."),
        (text(answer("list", 2), "++", plan=ALL | {"order": {"by": CITED, "direction": "desc"}},
              evidence={"order": {"value": 14, "place": 1}}),
         "Two papers answer this: A (is cited by 14) [1] and B (is cited by 14) [2]."),
        (text(answer("list", 1), "+", plan=ALL | LIGHTEST | {"anchors": [{"var": "T", "text": "A, B"}]},
              evidence={"order": {"value": 9, "place": 1}}),
         "A [1] answers this: of “A, B” it is the paper that is the lightest one (weight 9 g)."),
        (text(answer("list", 2), "++", plan=LIGHTEST | {"anchors": [{"var": "T", "text": "A, B"}]},
              evidence={"order": {"value": 9, "place": 1}}),
         "Two papers answer this: A (weight 9 g) [1] and B (weight 9 g) [2]. "
         "Of “A, B” each of them is a paper that is the lightest one [3]."),
        # Values that are asked for, and values that a condition compares.
        (text(answer("list", 1, field="weight_g"), "+", plan=BY_ADA | {"show": "weight_g"}, evidence={"value": 2180}),
         "The weight of A is 2.18 kg [1]. It is the only paper that was written by “Ada” [1]."),
        (text(answer("list", 1, field="weight_g"), "+", plan=ALL | {"show": "weight_g"}, probability=0.6,
              evidence={"value": 2180}),
         "This probably answers it: the weight of A is 2.18 kg [1]."),
        (text(answer("list", 1, field="weight_g"), "+", plan=ALL | {"show": "weight_g"}),
         "The weight of A is not known here [1]."),
        (text(answer("list", 2, field="weight_g"), "++", plan=ALL | {"show": "weight_g"}, evidence={"value": 9}),
         "Two papers answer this: A (weight 9 g) [1] and B (weight 9 g) [2]."),
        (text(answer("list", 1), "+", plan=ALL | {"filters": [{"var": "T", "field": "year", "op": "<", "value": 1990}]},
              evidence={"values": {"year": 1984}}),
         "A [1] answers this: it is the only paper with year before 1990 (year 1984)."),
        # Counts and what is computed.
        (text(answer("number", 14, value=14), "++"),
         "14 papers answer this [1]. Each of them is a paper that was written by “Ada” [1]. "
         "Among them: A [2] and B [3]."),
        (text(answer("number", 1, value=1), "+", plan=ALL), "1 paper answers this [1]. It is A [2]."),
        (text(answer("number", 14, value=14), "+", plan=ALL | TEXT),
         "At most 14 papers may answer this [1]. Among them: A [2]."),
        (text(answer("number", 0, value=0), ""), "None: no paper was written by “Ada” [1]."),
        (text(computed(31.5, 3, 2), "+", plan=ALL, evidence={"value": 9}),
         "The mean weight of 2 of 3 papers is 31.5 g [1]. Among them: A [2]."),
        (text(computed(31.5, 3, 3), ""),
         "The mean weight of 3 papers is 31.5 g [1]. Each of them is a paper that was written by “Ada” [1]."),
        (text(computed(None, 3, 0), "+", plan=ALL), "Not known: 3 papers have no weight here [1]."),
        # Yes and no.
        (text(answer("yes", 1), "+"), "Yes: Ada wrote On amber [1]."),
        (text(answer("yes", 1), "+", probability=0.6), "Probably yes: Ada wrote On amber [1]."),
        (text(answer("yes", 2), "++", plan=ALL, evidence={"paths": []}),
         "Yes: A [1] and B [2]. This holds for 2 papers [3]."),
        (text(answer("no", 0), ""), "No: no paper was written by “Ada” [1]."),
        (text(answer("no", 0), "", probability=0.3), "Perhaps not: no paper was written by “Ada” [1]."),
        # A name alone.
        (text(answer("list", 1), "+", plan={"anchors": [{"var": "T", "text": "Ada"}]}),
         "A [1] is the paper that was asked for."),
    ],
)  # fmt: skip
def test_each_kind_of_answer_is_written(said: str, expected: str) -> None:
    assert said == expected


@pytest.mark.parametrize(
    "given",
    [
        search(answer("list", 0), "--", plan=BY_ADA),
        search(answer("unknown", 0), ""),
        search(answer("list", 2), "++", status="running"),
        search(answer("list", 0, complete=False), "--", plan_index=None, plans=[]),
    ],
)
def test_nothing_is_written_where_nothing_answers(given: dict[str, Any]) -> None:
    assert told(given, Traversals(), SCHEMA)["answer"]["written"] == []


def test_a_source_has_what_the_graph_says_of_its_result() -> None:
    first, every = sentences(answer("list", 2), "++", plan=BY_ADA | BY_BOB, evidence={"values": {"year": 1984}})
    assert first["sources"][0] == {
        "number": 1, "rank": 1, "id": "n1", "name": "A",
        "evidence": "paper; Ada wrote On amber; year 1984; not “written by Bob”",
    }  # fmt: skip
    assert every["sources"] == [
        {"number": 3, "rank": None, "id": "", "name": "",
         "evidence": "paper that was written by “Ada”, not “written by Bob”: 2 found"},
    ]  # fmt: skip


def test_a_path_over_another_thing_is_a_sentence_of_its_own() -> None:
    long = [node("Ada"), edge("WROTE", "out"), node("On amber"), edge("CITES", "out"), node("A")]
    said = sentences(answer("list", 1), "+", plan=ALL, evidence={"paths": [long]})
    assert [one["text"] for one in said] == ["A [1] answers this.", "Ada wrote On amber, which cites A [1]."]
    # Arrows are no sentence.
    long[3] = edge("NEAR", "out")
    assert len(sentences(answer("list", 1), "+", plan=ALL, evidence={"paths": [long]})) == 1


def test_another_meaning_with_another_answer_is_told() -> None:
    described = search(answer("list", 1), "+-", plan=BY_ADA)
    turned = described["plans"][0]["plan"] | {"hops": [BY_ADA["hops"][0] | {"direction": "in"}]}
    described["plans"][0]["probability"] = 0.6
    described["plans"].append({"plan": turned, "source": "schema", "probability": 0.3})
    found = [Traversed(at, "test", Listed((f"n{at}",), (1.0,), 1)) for at in range(2)]
    said = told(described, Traversals(tuple(found)), SCHEMA)["answer"]["written"]
    assert said[-1]["text"] == "The answer is another one if this is meant: paper that wrote “Ada” [2]."
