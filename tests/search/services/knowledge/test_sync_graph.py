"""A snapshot is put into a real Neo4j, whole or not at all, and every difference is found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection as database
from pytest_django.fixtures import Settings

from search import wiring
from search.adapters.graph_neo4j.connection import Connection, connect
from search.adapters.graph_neo4j.names import Names
from search.adapters.graph_neo4j.project import OvertakenByAnother, Projection, markers
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.ingest import documents
from search.models import KnowledgeBase, Snapshot
from search.services.jobs.run_context import plain_run
from search.services.knowledge import sync_graph as syncing
from search.services.knowledge.delete_knowledge_base import delete_knowledge_base
from search.services.knowledge.graph_state import graph_state
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.knowledge.sync_graph import SyncFailed, check_graph, remove_graph, sync_graph
from tests.database import another_session
from tests.neo4j_server import Neo4jServer
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db

FIRST_SNAPSHOT = 1_000_000
"""Other tests give their projections numbers of their own, which are smaller."""
HOSTILE = "`]->(x) DETACH DELETE x //"
NODES = [
    {"id": f"n{at:02}", "type": "film" if at % 2 else "person", "name": f"Name {at} '\"`\\ é🎬", "fields": {"year": at}}
    for at in range(30)
]
EDGES: list[dict[str, Any]] = [
    {"source": f"n{at:02}", "relation": relation, "target": f"n{(at * step + 3) % 30:02}"}
    | ({"properties": {"year": 2000 + at}} if relation == "SEEN_BY" else {})
    for relation, step in (("SEEN_BY", 7), (HOSTILE, 11))
    for at in range(30)
]


@pytest.fixture
def films(tmp_path: Path, settings: Settings, neo4j_server: Neo4jServer) -> Iterator[KnowledgeBase]:
    """Thirty nodes and sixty edges, imported; what is put into Neo4j is taken away again."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    settings.NEO4J_URL = neo4j_server.url
    wiring.forget()
    with database.cursor() as cursor:
        sequence = "pg_get_serial_sequence('search_snapshot', 'id')"
        cursor.execute(f"SELECT setval({sequence}, GREATEST(nextval({sequence}), {FIRST_SNAPSHOT}))")
    import_snapshot(source=bundles.write(tmp_path / "bundle", NODES, EDGES))
    base = KnowledgeBase.objects.get(name="films")
    schema = active(base).schema
    yield base
    neo4j = connect(neo4j_server.address)
    for marker in markers(neo4j):
        if marker.snapshot > FIRST_SNAPSHOT:
            Projection(neo4j, Names(marker.snapshot, schema)).remove()
    wiring.forget()


@pytest.fixture
def neo4j(neo4j_server: Neo4jServer) -> Connection:
    return connect(neo4j_server.address)


def active(base: KnowledgeBase) -> Snapshot:
    base.refresh_from_db()
    assert base.active_release is not None
    return base.active_release.snapshot


def told(neo4j: Connection, query: str, **parameters: Any) -> list[list[Any]]:
    return neo4j.read("test", query, parameters, Limit.seconds(30))


def change(neo4j: Connection, query: str, **parameters: Any) -> None:
    neo4j.write(query, parameters, Limit.seconds(30))


def states(neo4j: Connection) -> dict[int, str]:
    return {marker.snapshot: marker.state for marker in markers(neo4j) if marker.snapshot > FIRST_SNAPSHOT}


def assert_holds(neo4j: Connection, snapshot: Snapshot, edges: list[dict[str, Any]] = EDGES) -> None:
    """Hold what Neo4j says by itself against the rows of the bundle."""
    label, schema = f"S{snapshot.pk}", snapshot.schema
    nodes = {
        identifier: (set(labels) - {label}, name, year)
        for identifier, labels, name, year in told(
            neo4j, f"MATCH (n:{label}) RETURN n.id, labels(n), n.f0s[0], n.f1n[0]"
        )
    }
    kinds = {kind.name: f"T{code}" for code, kind in enumerate(schema.node_types)}
    # Neo4j keeps texts so that they stand in the order of code points: letters beyond 16 bits have a prefix.
    expected = {
        str(n["id"]): ({kinds[str(n["type"])]}, str(n["name"]).replace("🎬", "\ue001🎬"), n["fields"]["year"])  # type: ignore[index]
        for n in NODES
    }
    assert nodes == expected
    codes = {relation.name: f"R{code}" for code, relation in enumerate(schema.relations)}
    found = told(neo4j, f"MATCH (a:{label})-[r]->(b:{label}) RETURN a.id, type(r), b.id")
    assert sorted(map(tuple, found)) == sorted((e["source"], codes[e["relation"]], e["target"]) for e in edges)


def test_everything_is_written_and_a_second_run_writes_nothing(films: KnowledgeBase, neo4j: Connection) -> None:
    assert "films" in graph_state()
    first = sync_graph(knowledge_base=films)
    assert (first.outcome, first.nodes, first.edges) == ("written", 30, 60)
    assert_holds(neo4j, active(films))
    assert states(neo4j) == {active(films).pk: "whole"}
    assert graph_state() == ""
    assert sync_graph(knowledge_base=films).outcome == "up to date"
    assert check_graph(knowledge_base=films).differences == []


def test_the_values_of_edges_are_written_with_them(films: KnowledgeBase, neo4j: Connection) -> None:
    sync_graph(knowledge_base=films)
    found = told(neo4j, f"MATCH (a:S{active(films).pk})-[r]->() RETURN a.key, type(r), r.f1n")
    seen = f"R{active(films).schema.relation_codes['SEEN_BY']}"
    assert sorted(found) == sorted(
        [key, f"R{code}", [2000 + key] if f"R{code}" == seen else None] for key in range(30) for code in range(2)
    )


class CutOff(Exception):
    """The process ends here."""


@pytest.mark.parametrize("after", [1, 4, 7, 11])
def test_a_run_that_is_cut_off_anywhere_is_gone_on_with(
    films: KnowledgeBase, neo4j: Connection, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    monkeypatch.setattr(syncing, "NODES_AT_ONCE", 7)
    monkeypatch.setattr(syncing, "EDGES_AT_ONCE", 11)
    steps: list[str] = []

    def cut(what: str, done: int, whole: int | None) -> None:
        steps.append(what)
        if len(steps) == after:
            raise CutOff

    with pytest.raises(CutOff):
        sync_graph(knowledge_base=films, run=plain_run(cut))
    assert states(neo4j) == {active(films).pk: "building"}
    assert "not finished" in " ".join(check_graph(knowledge_base=films).differences)
    assert "films" in graph_state()
    assert sync_graph(knowledge_base=films).outcome == "resumed"
    assert_holds(neo4j, active(films))
    assert check_graph(knowledge_base=films).differences == []


@pytest.mark.parametrize("part", ["Writing entities", "Writing relations"])
def test_a_batch_of_another_process_is_neither_lost_nor_written_twice(
    films: KnowledgeBase, neo4j: Connection, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setattr(syncing, "NODES_AT_ONCE", 7)
    monkeypatch.setattr(syncing, "EDGES_AT_ONCE", 11)
    snapshot = active(films)
    other = Projection(neo4j, Names(snapshot.pk, snapshot.schema))
    relation, source, target = documents.edges(snapshot.pk)
    order = np.lexsort((target, source, relation))[11:22]
    overtaken: list[int] = []

    def overtake(what: str, done: int, whole: int | None) -> None:
        if what != part or overtaken:
            return
        overtaken.append(done)
        if what == "Writing entities":
            other.write_nodes(next(documents.nodes(snapshot.pk, snapshot.schema, first=7, size=7)), done)
        else:
            other.write_edges(int(relation[order[0]]), source[order], target[order], done)

    assert sync_graph(knowledge_base=films, run=plain_run(overtake)).outcome == "written"
    assert overtaken == [7 if part == "Writing entities" else 11]
    assert_holds(neo4j, snapshot)
    assert check_graph(knowledge_base=films).differences == []
    with pytest.raises(OvertakenByAnother):
        other.write_nodes(next(documents.nodes(snapshot.pk, snapshot.schema, first=0, size=7)), 0)


def test_a_copy_that_is_cancelled_goes_on_later(
    films: KnowledgeBase, neo4j: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncing, "NODES_AT_ONCE", 7)
    reports: list[int] = []
    run = RunContext(
        progress=lambda what, done, whole: reports.append(done), limit=Limit(cancelled=lambda: reports[-1:] == [14])
    )
    with pytest.raises(RunCancelled):
        sync_graph(knowledge_base=films, run=run)
    assert states(neo4j) == {active(films).pk: "building"}
    assert sync_graph(knowledge_base=films).outcome == "resumed"
    assert_holds(neo4j, active(films))


def test_the_old_projection_answers_until_the_new_one_is_whole(
    films: KnowledgeBase, neo4j: Connection, tmp_path: Path
) -> None:
    sync_graph(knowledge_base=films)
    old = active(films)
    import_snapshot(source=bundles.write(tmp_path / "second", NODES, EDGES[:40]))
    new = active(films)
    seen: list[dict[int, str]] = []
    synced = sync_graph(
        knowledge_base=films,
        run=plain_run(lambda what, done, whole: seen.append(states(neo4j)) if what.startswith("Writing") else None),
    )
    assert synced.outcome == "written"
    assert {tuple(sorted(held.items())) for held in seen} == {((old.pk, "whole"), (new.pk, "building"))}
    assert states(neo4j) == {new.pk: "whole"}
    assert told(neo4j, f"MATCH (n:S{old.pk}) RETURN count(n)") == [[0]]
    assert_holds(neo4j, new, EDGES[:40])


def test_what_was_begun_of_another_origin_is_written_anew(films: KnowledgeBase, neo4j: Connection) -> None:
    sync_graph(knowledge_base=films)
    change(neo4j, "MATCH (m:GraspProjection {snapshot: $pk}) SET m.fingerprint = 'another'", pk=active(films).pk)
    assert "comes from another installation" in " ".join(check_graph(knowledge_base=films).differences)
    assert sync_graph(knowledge_base=films).outcome == "written"
    assert_holds(neo4j, active(films))


@pytest.mark.parametrize(
    ("change_of", "sentence"),
    [
        ("MATCH (n:{S} {{id: 'n04'}}) DETACH DELETE n", "14 entities of the type person; there should be 15"),
        ("CREATE (:{S}:T0 {{key: 900}})", "16 entities of the type"),
        ("CREATE (:{S}:T77 {{key: 900}})", "1 entities whose type"),
        ("MATCH (n:{S} {{id: 'n04'}}) SET n.f1n = [5]", "The entity n04 differs in year"),
        ("MATCH (n:{S} {{id: 'n04'}}) SET n.id = 'n99'", "The entity n04 differs in id"),
        ("MATCH (n:{S} {{id: 'n04'}}) SET n.extra = 1", "The entity n04 differs in extra"),
        ("MATCH (:{S} {{id: 'n04'}})-[r:{R}]->() DELETE r", "29 of the relation SEEN_BY; there should be 30"),
        ("MATCH (a:{S} {{id: 'n04'}}), (b:{S} {{id: 'n05'}}) CREATE (a)-[:{R}]->(b)", "31 of the relation"),
        ("MATCH (a:{S} {{id: 'n04'}}), (b:{S} {{id: 'n05'}}) CREATE (a)-[:R99]->(b)", "a relation that the imported"),
        (
            "MATCH (a:{S} {{id: 'n04'}})-[r:{R}]->(b), (c:{S} {{id: 'n05'}}) WHERE b <> c DELETE r "
            "CREATE (a)-[:{R}]->(c)",
            "The relation SEEN_BY joins other entities",
        ),
        (
            "MATCH (a:{S} {{id: 'n04'}})-[r:{R}]->(b) DELETE r CREATE (b)-[:{R}]->(c:{S}:T0 {{key: 901}})",
            "entities of the type",
        ),
    ],
)  # fmt: skip
def test_any_difference_is_found_and_mended(
    films: KnowledgeBase, neo4j: Connection, change_of: str, sentence: str
) -> None:
    sync_graph(knowledge_base=films)
    snapshot = active(films)
    code = next(at for at, relation in enumerate(snapshot.schema.relations) if relation.name == "SEEN_BY")
    change(neo4j, change_of.format(S=f"S{snapshot.pk}", R=f"R{code}"))
    found = " ".join(check_graph(knowledge_base=films).differences)
    assert sentence in found
    assert sync_graph(knowledge_base=films).outcome == "written"
    assert_holds(neo4j, snapshot)


def test_the_command_says_what_differs_and_ends_with_1(
    films: KnowledgeBase, neo4j: Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("sync_graph", "films", "--json")
    assert json.loads(capsys.readouterr().out)["outcome"] == "written"
    call_command("sync_graph", "films", "--check")
    assert "Neo4j holds the same 30 nodes, 60 edges." in capsys.readouterr().out
    change(neo4j, f"MATCH (n:S{active(films).pk} {{id: 'n04'}}) SET n.f1n = [5]")
    with pytest.raises(CommandError, match="sync_graph repairs it") as caught:
        call_command("sync_graph", "films", "--check")
    assert caught.value.returncode == 1
    assert "The entity n04 differs in year." in capsys.readouterr().err


def test_what_cannot_be_synced_gets_a_sentence(
    films: KnowledgeBase, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.ingest.locks.GRACE_SECONDS", 0.0)
    with another_session() as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended('grasp import of films', 0))")
        with pytest.raises(SyncFailed, match="is running; wait until it has ended"):
            sync_graph(knowledge_base=films)
    with pytest.raises(SyncFailed, match="'empty' has no active release; import it first"):
        sync_graph(knowledge_base=KnowledgeBase.objects.create(name="empty", title="Empty"))
    settings.NEO4J_URL = "bolt://neo4j:a-secret@127.0.0.1:1/neo4j"
    for work in (sync_graph, check_graph):
        with pytest.raises(SyncFailed) as caught:
            work(knowledge_base=films)
        assert "127.0.0.1:1" in str(caught.value)
        assert "a-secret" not in str(caught.value)
    settings.NEO4J_URL = ""
    with pytest.raises(SyncFailed, match="NEO4J_URL is not set"):
        sync_graph(knowledge_base=films)


def test_a_knowledge_base_that_is_deleted_leaves_nothing_in_neo4j(
    films: KnowledgeBase, neo4j: Connection, django_capture_on_commit_callbacks: Any
) -> None:
    sync_graph(knowledge_base=films)
    pk = active(films).pk
    with django_capture_on_commit_callbacks(execute=True):
        delete_knowledge_base(knowledge_base=films)
    assert states(neo4j) == {}
    assert told(neo4j, f"MATCH (n:S{pk}) RETURN count(n)") == [[0]]


def test_a_neo4j_that_is_away_keeps_nobody_from_deleting(
    films: KnowledgeBase, settings: Settings, django_capture_on_commit_callbacks: Any
) -> None:
    schema = active(films).schema
    settings.NEO4J_URL = "bolt://neo4j:a-secret@127.0.0.1:1/neo4j"
    with pytest.raises(SyncFailed, match=r"127\.0\.0\.1:1"):
        remove_graph(knowledge_base="films", schema=schema)
    with django_capture_on_commit_callbacks(execute=True):
        delete_knowledge_base(knowledge_base=films)
    assert not KnowledgeBase.objects.filter(name="films").exists()
