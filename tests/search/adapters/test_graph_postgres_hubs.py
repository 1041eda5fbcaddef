"""Nodes with very many edges: walked from the other side, or cut with a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.graph_postgres import PostgresGraph
from search.domain.graph import Node, Schema
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Hop, Plan, Target
from search.domain.trace import Limit
from tests.graphs import Nodes, schema_of, store, write_adjacency
from tests.oracle import Graph

SNAPSHOT = 8
LEAVES = 3_000
HUB, RARE = 0, 1
FIRST = 2
HUBS = Graph(
    (Node(HUB, "hub", "country", "Hub"), Node(RARE, "rare", "person", "Rare"),
     *(Node(key, f"n{key:05}", "film", f"Film {key}") for key in range(FIRST, FIRST + LEAVES))),
    (*((key, "made in", HUB) for key in range(FIRST, FIRST + LEAVES)),
     *((RARE, "acted", key) for key in (FIRST + 5, FIRST + 9))),
)  # fmt: skip
BOUND = {"hub": Binding("hub", HUBS.nodes[HUB], 0.8), "rare": Binding("rare", HUBS.nodes[RARE], 0.9)}


@pytest.fixture
def hubs(db: None, tmp_path: Path) -> PostgresGraph:
    schema = schema_of(HUBS)
    store(HUBS, schema, SNAPSHOT)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE search_edge_8")
    return PostgresGraph(SNAPSHOT, schema, Nodes(HUBS, schema), adjacency(schema, tmp_path))


def bounded(most_rows: int) -> PostgresGraph:
    """The engine over the graph of `hubs`, with another bound; it knows no degrees."""
    schema = schema_of(HUBS)
    return PostgresGraph(SNAPSHOT, schema, Nodes(HUBS, schema), most_rows=most_rows)


def adjacency(schema: Schema, directory: Path) -> MemmapAdjacency:
    write_adjacency(HUBS, schema, directory)
    return MemmapAdjacency(directory, schema)


def plan(*anchors: str) -> LinkedPlan:
    hops = {"hub": Hop("T", "made in", "hub", "country"), "rare": Hop("rare", "acted", "T", "film")}
    written = Plan(
        tuple(Anchor(var, var) for var in anchors), tuple(hops[var] for var in anchors), Target("T", ("film",))
    )
    return LinkedPlan(written, tuple(BOUND[var] for var in anchors))


def edges_read(linked: LinkedPlan, monkeypatch: pytest.MonkeyPatch, graph: PostgresGraph) -> int:
    """Return how many rows the scans of a statement gave, by what Postgres counts itself."""
    read = []

    def explained(
        stage: str, text: str, parameters: object, limit: Limit, wanted: object, keep: bool
    ) -> list[tuple[object, ...]]:
        with connection.cursor() as cursor:
            cursor.execute("SET enable_seqscan = off")
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", parameters)
            [(report,)] = cursor.fetchall()
            read.append(scanned(report[0]["Plan"]))
        return [([], [], False)]

    with monkeypatch.context() as patched:
        patched.setattr("search.adapters.graph_postgres.execute.read", explained)
        graph.execute(linked, Limit())
    return sum(read)


def scanned(part: dict[str, object]) -> int:
    own = int(part["Actual Rows"] * part["Actual Loops"]) if part.get("Relation Name") == "search_edge_8" else 0  # type: ignore[operator]
    return own + sum(scanned(below) for below in part.get("Plans", []))  # type: ignore[attr-defined]


@pytest.mark.parametrize("anchors", [("hub", "rare"), ("rare", "hub")])
def test_a_join_with_a_hub_starts_from_the_selective_side(
    hubs: PostgresGraph, monkeypatch: pytest.MonkeyPatch, anchors: tuple[str, str]
) -> None:
    monkeypatch.setattr("search.adapters.graph_matching.estimate.SMALL", 100)
    linked = plan(*anchors)
    found = hubs.execute(linked, Limit())
    assert {c.key: c.score for c in found.candidates} == pytest.approx({FIRST + 5: 1.7, FIRST + 9: 1.7})
    assert not found.truncated
    # Two edges of the rare one, and the hub looked up from the two films.
    assert edges_read(linked, monkeypatch, hubs) == 4


def test_the_edges_of_a_hub_alone_are_cut_and_the_result_says_so(
    hubs: PostgresGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = bounded(500)
    found = small.execute(plan("hub"), Limit())
    assert ([c.key for c in found.candidates], found.truncated) == (list(range(FIRST, FIRST + 500)), True)
    assert edges_read(plan("hub"), monkeypatch, small) == 500


def test_what_is_not_too_many_is_not_cut(hubs: PostgresGraph) -> None:
    found = bounded(LEAVES + 1).execute(plan("hub"), Limit())
    assert (len(found.candidates), found.truncated) == (LEAVES, False)


def test_who_matches_is_known_of_every_key_however_many_edges_the_first_of_them_have(hubs: PostgresGraph) -> None:
    # No more than 500 partial matches are carried on, and the hub alone has 3,000: the rare one is asked for by itself.
    loose = LinkedPlan(Plan((), (Hop("T", "*", "x", "film"),)), ())
    assert bounded(500).matching(loose, [HUB, RARE, FIRST], Limit()) == {HUB, RARE}


def test_a_hub_as_an_anchor_leaves_no_key_unknown(hubs: PostgresGraph) -> None:
    last = FIRST + LEAVES - 1
    assert bounded(500).matching(plan("hub"), [last, RARE], Limit()) == {last}


def test_paths_of_a_few_candidates_are_looked_up_from_them(hubs: PostgresGraph) -> None:
    paths = hubs.paths(plan("hub", "rare"), [FIRST + 5, FIRST + 6], Limit())
    assert list(paths) == [FIRST + 5]
    assert [path.nodes[0].node.key for path in paths[FIRST + 5][0]] == [HUB, RARE]


def test_a_candidate_of_another_type_has_no_paths_from_whichever_end_they_are_walked(
    hubs: PostgresGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.adapters.graph_matching.estimate.SMALL", 0.01)
    wrong = LinkedPlan(
        Plan((Anchor("hub", "hub"),), (Hop("T", "made in", "hub"),), Target("T", ("person",))), (BOUND["hub"],)
    )
    assert hubs.paths(wrong, [FIRST, FIRST + 1], Limit()) == {}
