"""What the engine does with limits, failures and hostile input."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search.adapters.graph_postgres import PostgresGraph
from search.adapters.graph_postgres.compile import GraphTables, SqlCompiler
from search.adapters.graph_postgres.compile_paths import compile_paths
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.graph import Node
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Filter, Hop, Plan, Target
from search.domain.trace import Limit
from tests.graphs import Nodes, schema_of, store
from tests.oracle import Graph

SNAPSHOT = 7
STAR = Graph(
    (Node(0, "hub", "person", "Hub"), *(Node(key, f"n{key:03}", "film", f"Film {key}") for key in range(1, 60))),
    tuple((0, "acted", key) for key in range(1, 60)),
)
PLAN = Plan((Anchor("a", "Hub"),), (Hop("a", "acted", "T", "film"),))
LINKED = LinkedPlan(PLAN, (Binding("a", STAR.nodes[0], 0.9),), 0)


@pytest.fixture
def star(db: None) -> PostgresGraph:
    schema = schema_of(STAR)
    store(STAR, schema, SNAPSHOT)
    return PostgresGraph(SNAPSHOT, schema, Nodes(STAR, schema))


def test_a_result_larger_than_the_row_limit_is_cut_to_the_best_and_says_so(star: PostgresGraph) -> None:
    found = star.execute(LINKED, Limit(), rows=10)
    assert ([c.key for c in found.candidates], found.truncated) == (list(range(1, 11)), True)


def test_a_result_of_exactly_the_row_limit_is_not_truncated(star: PostgresGraph) -> None:
    found = star.execute(LINKED, Limit(), rows=59)
    assert (len(found.candidates), found.truncated) == (59, False)


def test_an_anchor_without_bindings_gives_no_candidates_and_asks_nothing(star: PostgresGraph) -> None:
    found = star.execute(LinkedPlan(PLAN, (), 4), Limit())
    assert (found.candidates, found.query, found.plan_index) == ((), "", 4)
    assert star.paths(LinkedPlan(PLAN, (), 4), [1], Limit()) == {}


def test_a_limit_that_has_run_out_stops_before_the_statement(star: PostgresGraph) -> None:
    with pytest.raises(DeadlineExceeded):
        star.execute(LINKED, Limit.seconds(0))


def test_a_cancelled_search_stops_before_the_statement(star: PostgresGraph) -> None:
    with pytest.raises(SearchCancelled):
        star.execute(LINKED, Limit(cancelled=lambda: True))


def test_the_time_limit_reaches_postgres_and_ends_with_the_statement(star: PostgresGraph) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        before = cursor.fetchone()
        star.execute(LINKED, Limit.seconds(5))
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == before


@pytest.mark.django_db(transaction=True)
def test_a_deep_walk_is_stopped_in_time_and_the_next_statement_works() -> None:
    schema = schema_of(STAR)
    dense = Graph(STAR.nodes, tuple((a, "acted", b) for a in range(60) for b in range(60)))
    store(dense, schema, SNAPSHOT)
    graph = PostgresGraph(SNAPSHOT, schema, Nodes(dense, schema))
    plan = Plan(
        (Anchor("a", "Film 1"),),
        tuple(Hop(one, "*", two) for one, two in (("a", "x"), ("a", "y"), ("a", "z"), ("x", "T"), ("y", "T"),
                                                  ("z", "T"))),
    )  # fmt: skip
    linked = LinkedPlan(plan, (Binding("a", dense.nodes[1], 1.0),), 0)
    with pytest.raises(DeadlineExceeded):
        graph.execute(linked, Limit.seconds(0.05))
    assert len(graph.execute(LINKED, Limit.seconds(30)).candidates) == 59


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_was_cut_is_a_temporary_failure_and_the_next_search_connects_again() -> None:
    schema = schema_of(STAR)
    store(STAR, schema, SNAPSHOT)
    graph = PostgresGraph(SNAPSHOT, schema, Nodes(STAR, schema))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (ours,) = cursor.fetchone()

    def cut() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [ours])
        connection.close()

    cutting = threading.Thread(target=cut)
    cutting.start()
    cutting.join()
    with pytest.raises(StageError, match="Postgres does not answer") as caught:
        graph.execute(LINKED, Limit())
    assert not caught.value.permanent
    assert len(graph.execute(LINKED, Limit()).candidates) == 59


def test_a_snapshot_that_is_gone_is_a_permanent_failure(db: None) -> None:
    schema = schema_of(STAR)
    with pytest.raises(StageError, match="no longer in Postgres") as caught:
        PostgresGraph(99, schema, Nodes(STAR, schema)).execute(LINKED, Limit())
    assert caught.value.permanent


def test_a_plan_whose_parts_do_not_connect_is_refused(star: PostgresGraph) -> None:
    apart = LinkedPlan(
        Plan((Anchor("a", "Hub"), Anchor("b", "Hub")), (Hop("a", "acted", "T"),)),
        (Binding("a", STAR.nodes[0], 1.0), Binding("b", STAR.nodes[1], 1.0)),
    )
    with pytest.raises(StageError, match="is connected with the target") as caught:
        star.execute(apart, Limit())
    assert caught.value.permanent


HOSTILE = ("'; DROP TABLE search_edge; --", '"', "\\", "%s", "%(p0)s", "$1", "{}", "\n", "🙂", "' OR '1'='1", "%")


def shape(linked: LinkedPlan, keys: list[int]) -> tuple[str, str]:
    schema = schema_of(STAR)
    return (
        SqlCompiler(linked, schema, GraphTables(SNAPSHOT)).candidates(10).text,
        compile_paths(linked, schema, GraphTables(SNAPSHOT), keys, 1).text,
    )


def named(var: str, target: str, text: str, field: str, value: str) -> LinkedPlan:
    conditions = (Filter(target, field, "=", value), Filter(var, field, "contains", value))
    plan = Plan((Anchor(var, text),), (Hop(var, "acted", target, "film"),), Target(target, ("film",), text), conditions)
    return LinkedPlan(plan, (Binding(var, Node(0, text, "person", text), 0.9),), 0)


@given(st.lists(st.sampled_from(HOSTILE) | st.text(min_size=1), min_size=5, max_size=5, unique=True))
@settings(max_examples=50)
def test_no_name_or_value_changes_the_statements(texts: list[str]) -> None:
    var, target, text, field, value = (one.replace("name", "field") for one in texts)
    assert shape(named(f"a{var}", f"T{target}", text, field, value), [1, 2]) == shape(
        named("a", "T", "text", "field", "value"), [1, 2]
    )


@pytest.mark.django_db
@given(st.sampled_from(HOSTILE), st.sampled_from(HOSTILE))
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_hostile_names_and_values_run_and_find_only_what_they_say(hostile: str, other: str) -> None:
    nodes = tuple(
        Node(key, f"n{key}", kind, name, fields={hostile: value})
        for key, (kind, name, value) in enumerate(
            [("person", "x", "x"), ("film", hostile, hostile), ("film", "y", "y")]
        )
    )
    graph = Graph(nodes, ((0, "acted", 1), (0, "acted", 2)))
    schema = schema_of(graph)
    store(graph, schema, SNAPSHOT)
    plan = Plan(
        (Anchor(other, hostile),),
        (Hop(other, "acted", "T" + hostile, "film"),),
        Target("T" + hostile, (), other),
        (Filter("T" + hostile, hostile, "=", hostile), Filter("T" + hostile, "name", "contains", hostile)),
    )
    linked = LinkedPlan(plan, (Binding(other, nodes[0], 1.0),), 0)
    engine = PostgresGraph(SNAPSHOT, schema, Nodes(graph, schema))
    assert [candidate.key for candidate in engine.execute(linked, Limit()).candidates] == [1]
    assert list(engine.paths(linked, [1, 2], Limit())) == [1]


@pytest.fixture(autouse=True)
def no_partition_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests that commit leave no partition behind."""
    yield
    marker = request.node.get_closest_marker("django_db")
    if marker is not None and marker.kwargs.get("transaction"):
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS search_edge_7, search_node_7")
