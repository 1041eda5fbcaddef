"""A query against a schema: spelling, strictness, concealed labels, directions, and what counts as a name."""

from __future__ import annotations

import pytest

from search.domain.cypher import CheckedQuery, CypherPlace, Strictness, checked_query, read_cypher
from search.domain.graph import Field, NodeType, Relation, RelationType, Schema
from search.domain.plan import Filter
from search.domain.triplets import Symbol, Triplet

SCHEMA = Schema(
    (
        NodeType("paper", 5, (Field("publication year", "number"), Field("venue", "keyword"))),
        NodeType("author", 5),
        NodeType("field_of_study", 5),
        NodeType("shelf", 1, hidden=True),
    ),
    (Relation("author___writes___paper"), Relation("cites"), Relation("HAS_TOPIC"), Relation("stands_on")),
    (
        RelationType("author", "author___writes___paper", "paper", 9),
        RelationType("paper", "cites", "paper", 9),
        RelationType("paper", "HAS_TOPIC", "field_of_study", 9),
        RelationType("paper", "stands_on", "shelf", 1),
    ),
)
STRICT = Strictness(True, True, "strict")


def check(text: str, strict: Strictness = STRICT, concealed: tuple[str, ...] = ()) -> CheckedQuery:
    return checked_query(read_cypher(text), SCHEMA, strict, concealed)


def test_labels_relations_and_properties_are_spelled_as_the_schema_spells_them() -> None:
    found = check(
        'MATCH (a:Author)-[:author_writes_paper]->(y:PAPER)-[:has_topic]->(:`Field Of Study` {title: "ice"}) '
        "WHERE y.publication_year >= 2015 AND y.Venue CONTAINS 'ACL' RETURN y"
    )
    assert found.faults == ()
    assert found.query.triplets == (
        Triplet("a", "author___writes___paper", "y"), Triplet("y", "HAS_TOPIC", "#1")
    )  # fmt: skip
    assert found.query.symbols == (
        Symbol("a", ("author",)), Symbol("y", ("paper",)), Symbol("#1", ("field_of_study",), "ice")
    )  # fmt: skip
    assert found.query.filters == (Filter("y", "publication year", ">=", 2015), Filter("y", "venue", "contains", "ACL"))
    assert [symbol.name for symbol in found.query.constants] == ["#1"]


def test_an_arrow_against_the_schema_is_turned_and_one_within_a_type_stays() -> None:
    turned = check("MATCH (y:paper)-[:author_writes_paper]->(a:author {name: 'Ann'}) RETURN y")
    assert turned.query.triplets == (Triplet("a", "author___writes___paper", "y"),)
    within = check("MATCH (y:paper)<-[:cites]-(p:paper {name: 'P'}) RETURN y")
    assert within.query.triplets == (Triplet("p", "cites", "y"),)
    either = check("MATCH (y:paper)-[:cites]-(p:paper {name: 'P'}) RETURN y")
    assert either.query.triplets == (Triplet("y", "cites", "p", directed=False),)


def test_a_relation_that_does_not_join_the_two_types_is_a_fault() -> None:
    [fault] = check("MATCH (y:author)-[:cites]->(p:paper {name: 'P'}) RETURN y").faults
    assert fault.sentence == "Line 1, column 20: no `cites` joins a `author` and a `paper`."


@pytest.mark.parametrize(
    ("strict", "triplets", "labels"),
    [
        (Strictness(True, True), [], {}),
        (Strictness(True, False), [Triplet("y", None, "t", False)], {"t": ("field_of_study",)}),
        (Strictness(False, True), [Triplet("q", "cites", "y")], {"q": ()}),
        (
            Strictness(False, False),
            [Triplet("y", None, "t", False), Triplet("q", None, "y", False)],
            {"t": (), "q": ()},
        ),
    ],
)
def test_strictness_drops_triplets_and_leniency_restricts_nothing_but_the_answers(
    strict: Strictness, triplets: list[Triplet], labels: dict[str, tuple[str, ...]]
) -> None:
    found = check(
        "MATCH (y:paper)-[:about]->(t:field_of_study {name: 'ice'}), (y)<-[:cites]-(q:book {name: 'B'}) RETURN y",
        strict,
    )
    assert list(found.query.triplets) == triplets
    said = [fault.sentence for fault in found.faults]
    assert len(said) == 2
    assert all(symbol.labels == labels.get(symbol.name, ("paper",)) for symbol in found.query.symbols)


def test_an_unknown_label_names_its_place_and_the_nearest_one() -> None:
    [fault] = check("MATCH (y:paper)\n-[:HAS_TOPIC]->(t:field_of_studies {name: 'ice'}) RETURN y").faults
    assert (fault.place, fault.nearest) == (CypherPlace(2, 19), "field_of_study")
    assert "its triplets are dropped; did you mean `field_of_study`?" in fault.sentence


@pytest.mark.parametrize("hidden", [("field_of_study",), ("Field of study",)])
def test_a_concealed_label_and_its_relations_count_as_unknown(hidden: tuple[str, ...]) -> None:
    text = "MATCH (y:paper)-[:HAS_TOPIC]->(t:field_of_study {name: 'ice'}) RETURN y"
    found = check(text, STRICT, hidden)
    assert found.query.triplets == ()
    assert [fault.place.column for fault in found.faults] == [34, 19]
    assert all(fault.nearest != "field_of_study" for fault in found.faults)


def test_a_type_that_the_schema_hides_is_concealed_too() -> None:
    found = check("MATCH (y:paper)-[:stands_on]->(:shelf {name: 'A'}) RETURN y")
    assert found.query.triplets == ()
    assert len(found.faults) == 2


def test_properties_are_joined_dropped_or_ignored() -> None:
    text = "MATCH (y:paper)-[:cites]->(p:paper {name: 'P', colour: 'red', venue: 'ACL'}) RETURN y"
    joined = check(text, Strictness(True, True, "join"))
    assert [f.field for f in joined.query.filters] == ["colour", "venue"]
    assert joined.faults == ()
    dropped = check(text, STRICT)
    assert [f.field for f in dropped.query.filters] == ["venue"]
    assert dropped.faults[0].sentence.startswith("Line 1, column 48: `paper` has no property `colour`")
    assert check(text, Strictness(True, True, "lenient")).query.filters == ()


def test_the_answers_are_a_variable_even_if_the_query_names_them() -> None:
    found = check("MATCH (y:paper {name: 'ice'})-[:cites]->(p:paper) WHERE p.title CONTAINS 'x' RETURN y.title")
    assert [symbol.name for symbol in found.query.constants] == ["p"]
    assert found.query.obstacle == ""


def test_a_name_that_is_compared_is_a_condition_and_no_constant() -> None:
    found = check("MATCH (y:paper)-[:cites]->(p:paper) WHERE p.name <> 'x' AND p.name > 'b' RETURN y")
    assert found.query.constants == ()
    assert found.query.filters == (Filter("p", "name", "!=", "x"), Filter("p", "name", ">", "b"))


@pytest.mark.parametrize(
    ("text", "obstacle"),
    [
        ("MATCH (y:paper) WHERE y.venue = 'ACL' RETURN y", "no relation"),
        ("MATCH (y:paper), (a:author {name: 'A'})-[:author_writes_paper]->(p:paper) RETURN y", "No triplet contains"),
        ("MATCH (y:paper)-[:cites]->(p:paper) RETURN y", "No entity is named"),
    ],
)
def test_a_query_that_cannot_be_grounded_says_why(text: str, obstacle: str) -> None:
    assert obstacle in check(text).query.obstacle


def test_a_returned_variable_that_stands_nowhere_leaves_nothing() -> None:
    found = check("MATCH (paper1:paper)-[:cites]->(q:paper {name: 'x'}) RETURN papers1")
    assert found.query.target == ""
    assert found.faults[0].nearest == "paper1"


def test_a_second_label_of_a_variable_and_a_condition_on_an_unknown_variable_are_faults() -> None:
    found = check(
        "MATCH (y:paper)-[:cites]->(p:paper {name: 'x'}), (y:author)-[:cites]->(p) WHERE z.venue = 'A' RETURN y"
    )
    assert [fault.message for fault in found.faults] == ["`y` is a `paper` already", "`z` stands in no pattern"]
