"""With Neo4j configured, the mapped graph answers what it can, and the rest takes one statement for all results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from search import wiring
from search.adapters.graph_neo4j.connection import Connection, Row, connect
from search.adapters.graph_neo4j.names import Names
from search.adapters.graph_neo4j.project import Projection
from search.domain.trace import Limit
from search.models import KnowledgeBase, SearchRun
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.knowledge.sync_graph import sync_graph
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.neo4j_server import Neo4jServer
from tests.search.ingest import bundles

FILMS = 12
NODES = [
    {"id": "ada", "type": "person", "name": "Ada Holm", "fields": {}},
    {"id": "bob", "type": "person", "name": "Bob Roe", "fields": {}},
    *({"id": f"f{at:02}", "type": "film", "name": f"Film {at}", "fields": {"year": 1990 + at}} for at in range(FILMS)),
]
EDGES = [
    *({"source": f"f{at:02}", "relation": "DIRECTED_BY", "target": "ada"} for at in range(FILMS)),
    *({"source": f"f{at:02}", "relation": "PLAYED_BY", "target": "bob"} for at in range(0, FILMS, 3)),
]
"""Ada directed every film, and Bob plays in every third one."""
OF_ADA: dict[str, Any] = {
    "anchors": [{"var": "a", "text": "Ada Holm"}],
    "hops": [{"from": "a", "rel": "DIRECTED_BY", "to_var": "T", "to_label": "film"}],
    "target": {"var": "T", "labels": ["film"]},
}
WITHOUT_BOB = {"anchors": [{"var": "b", "text": "Bob Roe"}], "hops": [{"from": "T", "rel": "PLAYED_BY", "to_var": "b"}]}
NAMED = [{"var": "T", "field": "name", "op": "contains", "value": "Film 1"}]
"""A condition on names, which are not columns: the films 1, 10 and 11 meet it."""

pytestmark = pytest.mark.django_db


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Stage → number of statements that were sent to Neo4j for it."""
    sent = Counter[str]()
    read = Connection.read

    def counted(self: Connection, stage: str, query: str, parameters: Mapping[str, Any], limit: Limit) -> list[Row]:
        sent[stage] += 1
        return read(self, stage, query, parameters, limit)

    monkeypatch.setattr(Connection, "read", counted)
    return sent


@pytest.fixture
def films(tmp_path: Path, settings: Settings, neo4j_server: Neo4jServer) -> Iterator[KnowledgeBase]:
    """The films, imported and copied into Neo4j; what is put there is taken away again."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.NEO4J_URL = neo4j_server.url
    settings.GRASP_TOOLS = {
        **settings.GRASP_TOOLS,
        "encoder": {"BACKEND": "tests.fakes.HashEncoder"},
        "graph": {"BACKEND": "search.adapters.graph_neo4j.fallback.MemmapOrNeo4j"},
    }
    wiring.forget()
    wiring.encoder.cache_clear()
    import_snapshot(source=bundles.write(tmp_path / "bundle", NODES, EDGES))
    base = KnowledgeBase.objects.get(name="films")
    sync_graph(knowledge_base=base)
    yield base
    base.refresh_from_db()
    assert base.active_release is not None
    snapshot = base.active_release.snapshot
    Projection(connect(neo4j_server.address), Names(snapshot.pk, snapshot.schema)).remove()
    wiring.forget()
    wiring.encoder.cache_clear()


def searched(base: KnowledgeBase, plan: dict[str, Any]) -> SearchRun:
    run = request_search(knowledge_base=base.name, question="Which films?", plan=plan, enqueue=False)
    run = run_search(run.pk)
    assert run.error is None
    assert not [step.detail for step in run.steps.all() if step.status == "failed"]
    return run


def met_with_paths(run: SearchRun) -> dict[str, int]:
    """Return id → number of paths of the results that meet the whole plan."""
    results = describe_search(run)["results"]
    return {one["node"]["id"]: len(one["evidence"]["paths"]) for one in results if one["answers"]}


@pytest.mark.parametrize(
    "plan",
    [
        OF_ADA,
        OF_ADA | {"hops": [{"from": "a", "rel": "*", "to_var": "T", "to_label": "film"}]},
        OF_ADA | {"filters": [{"var": "T", "field": "year", "op": ">", "value": 1995}]},
        OF_ADA | {"order": {"by": {"field": "year"}, "direction": "desc"}},
        OF_ADA | {"exclude": [WITHOUT_BOB]},
    ],
    ids=["one hop", "any relation", "a year", "an order", "an exclusion"],
)
def test_what_the_mapped_graph_answers_sends_neo4j_nothing(
    films: KnowledgeBase, statements: Counter[str], plan: dict[str, Any]
) -> None:
    statements.clear()
    run = searched(films, plan)
    assert met_with_paths(run)
    assert statements == {}
    assert {query["backend"] for query in describe_search(run)["graph"]["queries"]} == {"memory"}


def test_paths_of_all_results_of_a_plan_beyond_the_mapped_graph_are_one_statement(
    films: KnowledgeBase, statements: Counter[str]
) -> None:
    statements.clear()
    run = searched(films, OF_ADA | {"filters": NAMED})
    assert met_with_paths(run) == {"f01": 1, "f10": 1, "f11": 1}
    # Of the plan's parts only the filter is beyond the mapped graph.
    assert statements == {"traverse": 1, "check": 1, "explain": 1}
    assert {query["backend"] for query in describe_search(run)["graph"]["queries"]} == {"neo4j"}


def test_the_paths_that_break_an_exclusion_are_one_statement_for_all_results(
    films: KnowledgeBase, statements: Counter[str]
) -> None:
    named = {**WITHOUT_BOB, "filters": [{"var": "b", "field": "name", "op": "=", "value": "Bob Roe"}]}
    statements.clear()
    run = searched(films, OF_ADA | {"exclude": [named]})
    results = [one["evidence"] for one in describe_search(run)["results"] if one["evidence"]]
    broken = [one["exclude"][0] for one in results if one["exclude"][0]["status"] == "not_met"]
    assert len(broken) == FILMS // 3
    assert all(one["paths"] for one in broken)
    assert statements["explain"] == 1


def test_a_copy_that_is_not_whole_answers_nothing(films: KnowledgeBase, neo4j_server: Neo4jServer) -> None:
    connect(neo4j_server.address).write("MATCH (m:GraspProjection) SET m.state = 'building'", {}, Limit.seconds(30))
    run = searched(films, OF_ADA | {"filters": NAMED})
    assert met_with_paths(run) == {"f01": 1, "f10": 1, "f11": 1}
    assert {query["backend"] for query in describe_search(run)["graph"]["queries"]} == {"postgres"}
    [traverse] = [step for step in run.steps.all() if step.role == "graph"]
    assert traverse.detail.startswith(
        "Postgres executed 1 of 1 plans instead: Neo4j does not hold this release's graph"
    )
