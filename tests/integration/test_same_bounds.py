"""Where a plan meets more than is read, both engines stop, say so, and claim nothing that they have not seen."""

from __future__ import annotations

import pytest

from search.adapters.graph_neo4j.connection import connect
from search.adapters.graph_neo4j.execute import Neo4jGraph
from search.adapters.graph_postgres import PostgresGraph
from search.domain.errors import StageError
from search.domain.graph import Node
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Filter, Hop, Plan, Target
from search.domain.trace import Limit
from search.interfaces import GraphStore
from tests.graphs import Nodes, schema_of, store
from tests.neo4j_server import Neo4jServer, project
from tests.oracle import Graph

SNAPSHOT = 5
START, HUB, FANS = 0, 1, 30
FIRST_FAN, FIRST_LEAF = 2, 2 + FANS
# One start, one hub behind it that nothing foresees, 30 nodes at the hub, one leaf at each of them.
GRAPH = Graph(
    (Node(START, "start", "person", "Start"), Node(HUB, "hub", "country", "Hub"),
     *(Node(FIRST_FAN + i, f"fan{i:02}", "person", f"Fan {i}") for i in range(FANS)),
     *(Node(FIRST_LEAF + i, f"leaf{i:02}", "film", f"Leaf {i}") for i in range(FANS))),
    ((START, "lives in", HUB), *((HUB, "home of", FIRST_FAN + i) for i in range(FANS)),
     *((FIRST_FAN + i, "saw", FIRST_LEAF + i) for i in range(FANS))),
)  # fmt: skip
HOPS = (Hop("a", "lives in", "x"), Hop("x", "home of", "y"), Hop("y", "saw", "T"))
LEAVES = list(range(FIRST_LEAF, FIRST_LEAF + FANS))

pytestmark = pytest.mark.django_db


def walk(*filters: Filter) -> LinkedPlan:
    """From the start over the hub to the leaves."""
    plan = Plan((Anchor("a", "Start"),), HOPS, Target("T"), filters)
    return LinkedPlan(plan, (Binding("a", GRAPH.nodes[START], 0.9),))


@pytest.fixture(params=["postgres", "neo4j"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engines(backend: str, request: pytest.FixtureRequest) -> type[_Engines]:
    schema = schema_of(GRAPH)
    _Engines.server = request.getfixturevalue("neo4j_server") if backend == "neo4j" else None
    if _Engines.server is None:
        store(GRAPH, schema, SNAPSHOT)
    else:
        project(connect(_Engines.server.address), GRAPH, schema, SNAPSHOT)
    return _Engines


class _Engines:
    """Engines over the graph with one bound or another."""

    server: Neo4jServer | None = None

    @classmethod
    def bounded(cls, most_rows: int) -> GraphStore:
        schema = schema_of(GRAPH)
        nodes = Nodes(GRAPH, schema)
        if cls.server is None:
            return PostgresGraph(SNAPSHOT, schema, nodes, most_rows=most_rows)
        return Neo4jGraph(connect(cls.server.address), SNAPSHOT, schema, nodes, most_rows=most_rows)


def test_a_hub_on_the_way_is_read_up_to_the_bound_and_the_result_says_so(engines: type[_Engines]) -> None:
    found = engines.bounded(10).execute(walk(), Limit())
    assert (len(found.candidates), found.truncated) == (10, True)
    assert {candidate.key for candidate in found.candidates} < set(LEAVES)


def test_what_stays_below_the_bound_is_whole(engines: type[_Engines]) -> None:
    found = engines.bounded(FANS + 1).execute(walk(), Limit())
    assert ([candidate.key for candidate in found.candidates], found.truncated) == (LEAVES, False)


def test_a_cut_is_told_also_where_nothing_is_found_behind_it(engines: type[_Engines]) -> None:
    nowhere = walk(Filter("T", "name", "=", "of nobody"))
    found = engines.bounded(10).execute(nowhere, Limit())
    assert (found.candidates, found.truncated) == ((), True)
    found = engines.bounded(FANS + 1).execute(nowhere, Limit())
    assert (found.candidates, found.truncated) == ((), False)


def test_paths_that_a_cut_has_lost_are_found_from_the_other_end(engines: type[_Engines]) -> None:
    # Of 30 fans the walk from the start sees 10; from three leaves it has three partial matches a step.
    for first in range(0, FANS, 3):
        shown = LEAVES[first : first + 3]
        paths = engines.bounded(10).paths(walk(), shown, Limit())
        assert sorted(paths) == shown
        for key in shown:
            [[path]] = paths[key]
            assert [node.node.key for node in path.nodes] == [START, HUB, key - FANS, key]


def test_what_neither_walk_has_seen_is_not_called_absent(engines: type[_Engines]) -> None:
    with pytest.raises(StageError, match="more partial matches than are looked through") as caught:
        engines.bounded(10).paths(walk(), LEAVES, Limit())
    assert caught.value.permanent


def test_keys_that_no_match_reaches_are_absent_where_nothing_was_cut(engines: type[_Engines]) -> None:
    assert sorted(engines.bounded(FANS + 1).paths(walk(), [HUB, LEAVES[7]], Limit())) == [LEAVES[7]]
