"""The small Cypher: what it reads, and each kind of fault with its line and column."""

from __future__ import annotations

import time

import pytest

from search.domain.cypher import MOST_CHARACTERS, MOST_TRIPLETS, CypherPlace, CypherUnreadable, cypher_in, read_cypher
from search.domain.cypher.syntax import WrittenQuery

RUNNING_EXAMPLE = """MATCH (i:institution {name: 'Miami uni'})<-[:employed_at]-(a:author)-[:wrote]->(p:paper)
p-[:has_field_of_study]->(f:field_of_study {name: "molecular biology"})
WHERE p.publication_year = 2015
RETURN p.title"""
"""The running example of AF-Retriever, section 3.2: a comma and two brackets are missing between its lines."""


def edges(query: WrittenQuery) -> list[tuple[str, str | None, str, bool]]:
    return [
        (e.head, e.relation.text if e.relation else None, e.tail, e.direction is not None) for e in query.edges
    ]  # fmt: skip


def conditions(query: WrittenQuery) -> list[tuple[str, str, str, object]]:
    return [(c.var, c.key.text, c.op, c.value) for c in query.conditions]


def test_the_running_example_of_the_paper_gives_its_triplets_and_attributes() -> None:
    query = read_cypher(RUNNING_EXAMPLE)
    assert edges(query) == [
        ("a", "employed_at", "i", True), ("a", "wrote", "p", True), ("p", "has_field_of_study", "f", True)
    ]  # fmt: skip
    assert conditions(query) == [
        ("i", "name", "=", "Miami uni"), ("f", "name", "=", "molecular biology"), ("p", "publication_year", "=", 2015)
    ]  # fmt: skip
    assert query.returned.text == "p"
    labels = {node.name: node.label.text for node in query.nodes if node.label}
    assert labels == {"i": "institution", "a": "author", "p": "paper", "f": "field_of_study"}


def test_nodes_and_relations_may_have_no_name_no_label_and_no_arrow() -> None:
    query = read_cypher("MATCH (a)-->()<--(:paper)--(b)<-[r]-(c), (b)-[r:`off label`]-(d) RETURN b;")
    assert edges(query) == [
        ("a", None, "#1", True), ("#2", None, "#1", True), ("#2", None, "b", False), ("c", None, "b", True),
        ("b", "off label", "d", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("y.year = 2015", ("y", "year", "=", 2015)),
        ("y.year <> -3", ("y", "year", "!=", -3)),
        ("y.year != 1.5e2", ("y", "year", "!=", 150)),
        ("y.year < 0.5", ("y", "year", "<", 0.5)),
        ("y.`publication date` <= 2015-01-31", ("y", "publication date", "<=", "2015-01-31")),
        ("y.date > '2015-01-31'", ("y", "date", ">", "2015-01-31")),
        ('y.title >= "B"', ("y", "title", ">=", "B")),
        ("y.title contains 'it\\'s'", ("y", "title", "contains", "it's")),
        ("y.title CONTAINS “topological”", ("y", "title", "contains", "topological")),
        ("y.retracted == TRUE", ("y", "retracted", "=", "true")),
    ],
)
def test_comparisons_have_numbers_texts_dates_and_truth_values(
    written: str, read: tuple[str, str, str, object]
) -> None:
    assert conditions(read_cypher(f"match (y:paper) where {written} return y")) == [read]


def test_conditions_may_stand_in_several_clauses_and_in_brackets() -> None:
    text = "MATCH (a) WHERE a.x = 1 MATCH (a)--(b) WHERE (a.y = 2 AND (b.z = 3 AND b.w = 4)) RETURN DISTINCT b.t AS t"
    assert [c[1] for c in conditions(read_cypher(text))] == ["x", "y", "z", "w"]


@pytest.mark.parametrize("label", ["gene/protein", "effect/phenotype", "off-label", "molekül", "3d_model", "R&D"])
def test_labels_may_have_signs_without_backticks(label: str) -> None:
    [node] = read_cypher(f"MATCH (y:{label}) RETURN y").nodes
    assert node.label is not None
    assert node.label.text == label


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("MATCH (a) WHERE a.x = 1 OR a.x = 2 RETURN a", 1, 25, "OR is not allowed"),
        ("MATCH (a)\nWHERE NOT (a)-[:r]->(b) RETURN a", 2, 7, "NOT is not allowed"),
        ("MATCH (a) WHERE a.x IN [1, 2] RETURN a", 1, 21, "IN is not allowed"),
        ("MATCH (a) WHERE a.name STARTS WITH 'x' RETURN a", 1, 24, "STARTS WITH is not allowed"),
        ("MATCH (a) WHERE exists((a)--(b)) RETURN a", 1, 17, "EXISTS is not allowed"),
        ("MATCH (a)-[:r|s]->(b) RETURN a", 1, 14, "alternatives"),
        ("MATCH (a)-[:r*1..3]->(b) RETURN a", 1, 14, "paths of any length"),
        ("MATCH (a) WHERE toLower(a.name) = 'x' RETURN a", 1, 24, "functions such as toLower"),
        ("MATCH (a) RETURN a ORDER BY a.x", 1, 20, "`ORDER` cannot stand here"),
        ("MATCH (a) RETURN a LIMIT 5", 1, 20, "`LIMIT` cannot stand here"),
        ("MATCH (a) WHERE a.x = b.y RETURN a", 1, 23, "`b` cannot stand here"),
        ("MATCH (a)-[:r {since: 1}]->(b) RETURN a", 1, 15, "relations have no properties"),
        ("MATCH (a)--(b) RETURN a, b", 1, 26, "only one variable"),
        ("MATCH (a", 1, 9, "ends too early"),
        ("MATCH (a)--(b)\n", 1, 15, "ends too early"),
        ("", 1, 1, "empty"),
        ("I am sorry, I cannot help.", 1, 1, "`I` cannot stand here"),
        ("MATCH (a) WHERE a.name = 'Crohn's disease' RETURN a", 1, 33, "`s` cannot stand here"),
    ],
)
def test_what_is_outside_is_a_fault_with_its_place(text: str, line: int, column: int, said: str) -> None:
    with pytest.raises(CypherUnreadable) as caught:
        read_cypher(text)
    [fault] = caught.value.faults
    assert (fault.place, said in fault.message) == (CypherPlace(line, column), True), fault.sentence


def test_two_hundred_triplets_are_a_fault_at_the_first_that_is_too_many() -> None:
    text = "MATCH " + ",\n".join(f"(a)-[:r]->(b{at})" for at in range(200)) + " RETURN a"
    with pytest.raises(CypherUnreadable, match=f"200 triplets; at most {MOST_TRIPLETS}") as caught:
        read_cypher(text)
    assert caught.value.faults[0].place == CypherPlace(MOST_TRIPLETS + 1, 4)


@pytest.mark.parametrize(
    "text",
    [
        "Which drug? " * 20_000, "MATCH " + "(a)-" * 4_000, "MATCH (a) WHERE " + "(" * 15_000, "'" * 19_000,
        "MATCH (a" + " " * 19_000, "`" * 19_000, "MATCH (a:" + "x/" * 9_000,
    ],
    ids=["repeats the question", "edges", "brackets", "quotes", "spaces", "backticks", "label"],
)  # fmt: skip
def test_long_nonsense_is_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(CypherUnreadable):
        read_cypher(text)
    assert time.process_time() - began < 2


def test_a_text_may_be_as_long_as_allowed() -> None:
    text = "MATCH (a {name: 'x'}) RETURN a"
    padded = text.replace("'x'", "'" + "x" * (MOST_CHARACTERS - len(text) + 1) + "'")
    assert len(padded) == MOST_CHARACTERS
    assert len(read_cypher(padded).conditions) == 1
    with pytest.raises(CypherUnreadable, match="at most 20,000"):
        read_cypher(padded + " ")


@pytest.mark.parametrize(
    "reply",
    [
        '{"cypher": "MATCH (a) RETURN a"}',
        'Here it is:\n```json\n{"cypher": "MATCH (a) RETURN a"}\n```',
        "```cypher\nMATCH (a) RETURN a\n```\nIt finds everything.",
        "<think>MATCH (b) RETURN b</think> The query is: MATCH (a) RETURN a",
        "MATCH (a) RETURN a",
    ],
)
def test_the_query_is_found_in_replies_of_all_shapes(reply: str) -> None:
    assert cypher_in(reply) == "MATCH (a) RETURN a"
