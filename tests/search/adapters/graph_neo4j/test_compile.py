"""The shape of statements: no name, value or question changes it, on either engine."""

from __future__ import annotations

import random
import re
import string
from pathlib import Path

import pytest

from search.adapters.graph_neo4j.compile import CypherCompiler
from search.adapters.graph_neo4j.compile_paths import compile_paths as compile_paths_neo4j
from search.adapters.graph_neo4j.names import Names
from search.adapters.graph_postgres.compile import GraphTables
from search.adapters.graph_postgres.compile import SqlCompiler as PostgresCompiler
from search.adapters.graph_postgres.compile_paths import compile_paths
from search.domain.errors import StageError
from search.domain.graph import Field, Node, NodeType, Relation, RelationType, Schema
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Filter, Hop, Plan, Target
from tests.graphs import schema_of
from tests.search.adapters.test_graph_postgres_hubs import HUBS, adjacency, plan

GENERATED = 6_000
SNAPSHOT = 4
ATTACKS = (
    *("`", "``", "\\u0060", "\\", "\\'", "\\u0027", "'", '"', "';", "--", "//", "/*", "*/", ";", "$p0", "$", "$$"),
    *(
        "%s",
        "%(p0)s",
        "{",
        "}",
        "{}",
        ")",
        "]->(",
        ":S1",
        "&",
        "|",
        "*",
        "\n",
        "\r",
        "\x00",
        "\u2028",
        "\u02bc",
        "\uff07",
    ),
    *(" OR 1=1", "' OR '1'='1", "MATCH (n) DETACH DELETE n", "`}) DETACH DELETE n //", "CALL db.labels()"),
    *("LOAD CSV FROM 'http://x'", "DROP TABLE search_edge", "🙂", "é"),
)
# What a statement may be made of, values apart: keywords, generated names, signs.
WORDS = re.compile(
    r"UNWIND|AS|MATCH|WITH|DISTINCT|WHERE|AND|OR|ORDER|BY|DESC|LIMIT|RETURN|CALL|UNION|ALL|CASE|WHEN|THEN|ELSE|END|IN|IS|NULL|"
    r"NOT|EXISTS|CONTAINS|any|collect|max|range|size|type|startNode|binding|score|key|keys|scores|rows|row|side|mine|theirs|"
    r"one|two|best|place|item|false|null|cut|merged|sum|count|[vmeropSTRfsck]\d+[stn]?|\$p\d+|\d+"
)


def hostile(rng: random.Random) -> str:
    """A text that means harm: attacks and random signs in a row."""
    parts = []
    for _ in range(rng.randrange(1, 6)):
        sign = chr(rng.choice((rng.randrange(1, 0xD800), rng.randrange(1, 128))))
        parts.append(rng.choice(ATTACKS) if rng.random() < 0.7 else sign)
    return "".join(parts)


def plan_of(texts: list[str], shape: int) -> tuple[LinkedPlan, Schema]:
    """A schema and a plan of one of several shapes, every name and value in them one of the texts."""
    film, person, acted, made, year, var, target, middle, value, other = texts
    schema = Schema(
        (NodeType(film, 1, (Field(year),)), NodeType(person, 1)),
        (Relation(acted), Relation(made)),
        (RelationType(person, acted, film, 1), RelationType(film, made, person, 1)),
    )
    nodes = [Node(0, texts[0], person, texts[1]), Node(1, texts[2], film, texts[3])]
    anchors: tuple[Anchor, ...] = (Anchor(var, value, person),)
    hops: tuple[Hop, ...] = (Hop(var, acted, target, film),)
    bindings: tuple[Binding, ...] = (Binding(var, nodes[0], 0.5),)
    filters = (
        Filter(target, year, "=", value), Filter(target, year, "contains", other), Filter(target, year, "<", value),
        Filter(target, year, "between", [value, other]), Filter(target, year, "in", [value, other, 3]),
        Filter(target, "name", ">=", 3),
    )  # fmt: skip
    if shape % 3:
        hops = (Hop(var, acted, middle, film), Hop(middle, made, target, person))
    if shape % 3 == 2:
        anchors, bindings = (*anchors, Anchor(other, other, film)), (*bindings, Binding(other, nodes[1], 0.4))
        hops = (*hops, Hop(other, "*", target))
    return LinkedPlan(Plan(anchors, hops, Target(target, (), value), filters[: 1 + shape % 6]), bindings), schema


def cypher(linked: LinkedPlan, schema: Schema) -> tuple[str, str]:
    names = Names(SNAPSHOT, schema)
    return CypherCompiler(linked, names).candidates(10).text, compile_paths_neo4j(linked, names, [1, 2], 2).text


def sql(linked: LinkedPlan, schema: Schema) -> tuple[str, str]:
    return (
        PostgresCompiler(linked, schema, GraphTables(SNAPSHOT)).candidates(10).text,
        compile_paths(linked, schema, GraphTables(SNAPSHOT), [1, 2], 2).text,
    )


HARMLESS = ["film", "person", "acted", "made", "year", "a", "T", "x", "value", "other"]


def test_thousands_of_hostile_names_and_values_change_no_statement_of_either_engine() -> None:
    rng = random.Random(5)
    twins = [plan_of(HARMLESS, shape) for shape in range(6)]
    expected = [(cypher(*twin), sql(*twin)) for twin in twins]
    changed = []
    for turn in range(GENERATED):
        texts: list[str] = []
        while len(texts) < len(HARMLESS):
            text = hostile(rng)
            if text not in (*texts, "*", "name"):
                texts.append(text)
        twin = plan_of(texts, turn % 6)
        if (cypher(*twin), sql(*twin)) != expected[turn % 6]:
            changed.append(texts)
    assert changed == []


@pytest.mark.parametrize("shape", range(6))
def test_a_statement_is_made_of_keywords_generated_names_and_signs_alone(shape: int) -> None:
    for text in cypher(*plan_of(HARMLESS, shape)):
        words = re.findall(r"\$?\w+", text)
        assert [word for word in words if not WORDS.fullmatch(word)] == []
        assert set(text) <= set(string.ascii_letters + string.digits + " \n()[]{}<>=-,.:|+*$_")


def test_a_hop_that_is_stored_one_way_is_walked_that_way_and_any_other_both_ways() -> None:
    linked, schema = plan_of(HARMLESS, 0)
    assert "MATCH (v0)-[:R0]->(v1)" in cypher(linked, schema)[0]
    either = LinkedPlan(Plan(linked.plan.anchors, (Hop("a", "*", "T"),)), linked.bindings)
    assert "MATCH (v0)-[]-(v1)" in cypher(either, schema)[0]


def test_a_plan_whose_parts_do_not_connect_is_refused() -> None:
    linked, schema = plan_of(HARMLESS, 2)
    apart = LinkedPlan(Plan(linked.plan.anchors, linked.plan.hops[:2]), linked.bindings)
    with pytest.raises(StageError, match="is connected with the target") as caught:
        cypher(apart, schema)
    assert caught.value.permanent


def test_plans_that_differ_in_values_alone_share_a_statement_that_the_server_has_planned_already() -> None:
    def statements(keys: range, value: str, low: int, rows: int) -> tuple[str, str]:
        linked, schema = plan_of(HARMLESS, 2)
        filters = (Filter("T", "year", "=", value), Filter("T", "year", "between", [low, 2 * low]))
        bindings = [
            Binding(var, Node(k, f"n{k}", kind, ""), k / 100)
            for k in keys
            for var, kind in (("a", "person"), ("other", "film"))
        ]
        other = LinkedPlan(Plan(linked.plan.anchors, linked.plan.hops, linked.plan.target, filters), tuple(bindings))
        names = Names(SNAPSHOT, schema)
        return (
            CypherCompiler(other, names, most_rows=7 * rows).candidates(rows).text,
            compile_paths_neo4j(other, names, list(keys), low).text,
        )

    assert statements(range(1, 3), "noir", 1990, 10) == statements(range(40, 60), "drama", 3, 10_000)


def test_a_hub_is_reached_from_the_selective_side(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("search.adapters.graph_matching.estimate.SMALL", 100)
    schema = schema_of(HUBS)
    text = CypherCompiler(plan("hub", "rare"), Names(SNAPSHOT, schema), adjacency(schema, tmp_path)).candidates(10).text
    walks = [line for line in text.splitlines() if line.startswith("MATCH") and ")-[" in line]
    # v0 is the hub, v1 the rare one, v2 the film: from the rare one to films, and from these to the hub.
    assert [re.sub(r"\[.*\]", "[]", line) for line in walks] == ["MATCH (v1)-[]->(v2)", "MATCH (v2)-[]->(v0)"]
