"""From a bundle to a release that answers, and everything that stops on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from pytest_django.fixtures import Settings

from search import wiring
from search.domain.graph import Field
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import EdgeField, Plan
from search.domain.run_context import NotesInMemory, RunCancelled, RunContext
from search.domain.trace import Limit
from search.ingest import partitions
from search.ingest.locks import import_lock
from search.models import KnowledgeBase, Node, Release, Snapshot
from search.models.knowledge import BuildStatus
from search.services.jobs.run_context import plain_run
from search.services.knowledge.import_snapshot import ImportFailed, import_snapshot
from tests.database import another_session
from tests.search.ingest import bundles

BAD_NODE = {"id": "x", "type": "song", "name": "X"}


@pytest.fixture
def quick_encoder(settings: Settings) -> None:
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()


@pytest.mark.django_db
def test_nodes_and_edges_come_out_as_the_bundle_has_them(tmp_path: Path) -> None:
    aliases = ["AR", 'The "Road"', "a\\b,{c}"]
    plot = 'back\\slash \\n " \t tab'
    nodes = [
        {"id": "f2", "type": "film", "name": "Amber\tRoad \\ 'x'", "aliases": aliases, "url": "https://x"},
        {
            "id": "p1",
            "type": "person",
            "name": "Ada\nHolm",
            "fields": {"born": "1970", "roles": ["a", "b"], "no": None},
        },
        {"id": "f1", "type": "film", "name": "Birch\r\nStreet", "fields": {"plot": plot, "tags": "one", "code": 5}},
        {"id": "f3", "type": "film", "name": "C", "fields": {"tags": ["two", "three"], "plot": "", "code": "x5"}},
    ]
    edges = [
        {"source": "f2", "relation": "BY", "target": "p1", "since": 1999, "note": 'say "hi"\\n'},
        {"source": "f1", "relation": "BY", "target": "p1"},
        {"source": "p1", "relation": "SAW", "target": "f1", "properties": {"times": [1, 2]}},
    ]
    report = import_snapshot(source=bundles.write(tmp_path, nodes, edges), index=False)
    assert (report.nodes, report.edges, report.bad_rows, report.release) == (4, 3, 0, None)
    assert report.snapshot is not None
    assert bundles.nodes_of(report.snapshot) == [
        (0, "f1", 0, "Birch\r\nStreet", [], "", {"plot": plot, "tags": ["one"], "code": "5"}),
        (1, "f2", 0, "Amber\tRoad \\ 'x'", aliases, "https://x", {}),
        (2, "f3", 0, "C", [], "", {"tags": ["two", "three"], "code": "x5"}),
        (3, "p1", 1, "Ada\nHolm", [], "", {"born": 1970, "roles": ["a", "b"]}),
    ]
    assert bundles.edges_of(report.snapshot) == [
        (0, 0, 3, 0, 1, None),
        (1, 0, 3, 0, 1, {"since": 1999, "note": 'say "hi"\\n'}),
        (3, 1, 0, 1, 0, {"times": [1, 2]}),
    ]
    snapshot = Snapshot.objects.get(pk=report.snapshot)
    assert snapshot.status == BuildStatus.READY
    assert [t.name for t in snapshot.schema.node_types] == ["film", "person"]
    assert Node.objects.filter(snapshot_id=snapshot.pk).count() == 4


@pytest.mark.django_db
def test_an_import_makes_a_release_that_answers(tmp_path: Path, quick_encoder: None) -> None:
    about = {"title": "Films", "description": "About films.", "language": "de", "examples": ["Who?"], "licence": "CC0"}
    source = bundles.write(tmp_path, **about)
    report = import_snapshot(source=source)
    assert report.release == "films-1"
    assert set(report.seconds) == {"check", "load", "index", "total"}
    base = KnowledgeBase.objects.get(name="films")
    assert base.active_release == Release.objects.get(knowledge_base=base, number=1)
    assert {key: getattr(base, key) for key in about} == about
    again = import_snapshot(source=source, activate=False)
    assert again.release == "films-2"
    assert KnowledgeBase.objects.get(name="films").active_release == base.active_release


@pytest.mark.django_db
def test_a_release_answers_by_the_values_of_edges(tmp_path: Path, quick_encoder: None) -> None:
    """Their kinds are counted and their values fitted and indexed, and the plan runs on the mapped graph."""
    edges = [
        {"source": "f2", "relation": "SEEN_BY", "target": "p1", "year": "1999"},
        {"source": "f1", "relation": "SEEN_BY", "target": "p1", "year": 2005},
    ]
    import_snapshot(source=bundles.write(tmp_path, edges=edges))
    release = Release.objects.get(knowledge_base__name="films")
    [relation] = release.snapshot.schema.relations
    assert relation.fields == (Field("year", "number", False, 2),)
    tools = wiring.Tools(release)
    hop = {"from": "T", "rel": "SEEN_BY", "to_var": "p", "where": [{"field": "year", "op": "<", "value": 2000}]}
    plan = Plan.parse(
        {"anchors": [{"var": "p", "text": "Ada Holm"}], "hops": [hop], "target": {"var": "T"}}, tools.schema
    )
    [ada] = tools.nodes.references([2])
    linked = LinkedPlan(plan, (Binding("p", ada, 1.0),))
    found = tools.graph.execute(linked, Limit())
    assert ([one.key for one in found.candidates], found.backend) == ([1], "memory")
    assert tools.graph.edge_values(linked, EdgeField("year", "p"), [1], Limit()) == {1: [1999]}


@pytest.mark.django_db
def test_the_same_bundle_can_be_imported_under_another_name(tmp_path: Path) -> None:
    report = import_snapshot(source=bundles.write(tmp_path), name="other", index=False)
    assert report.knowledge_base == "other"
    assert list(KnowledgeBase.objects.values_list("name", flat=True)) == ["other"]


@pytest.mark.django_db
def test_a_bad_row_stops_the_import_and_leaves_nothing(tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    source = bundles.write(tmp_path / "films", [*bundles.NODES, BAD_NODE])
    with pytest.raises(ImportFailed, match=r"1 bad row, 0 tolerated: nothing was loaded.*nodes\.jsonl:4") as failure:
        import_snapshot(source=source, report=report, index=False)
    assert (failure.value.report.bad_rows, failure.value.report.snapshot) == (1, None)
    assert [json.loads(line)["kind"] for line in report.read_text().splitlines()[:1]] == ["unknown_type"]
    assert not KnowledgeBase.objects.exists()
    assert not Snapshot.objects.exists()
    assert partitions.existing() == []


@pytest.mark.django_db
def test_the_active_release_stays_when_an_import_fails(tmp_path: Path, quick_encoder: None) -> None:
    import_snapshot(source=bundles.write(tmp_path / "good"))
    with pytest.raises(ImportFailed):
        import_snapshot(source=bundles.write(tmp_path / "bad", [*bundles.NODES, BAD_NODE]))
    base = KnowledgeBase.objects.get(name="films")
    assert str(base.active_release) == "films-1"
    assert base.snapshots.count() == 1


@pytest.mark.django_db
def test_within_the_tolerance_bad_rows_are_left_out_with_the_edges_that_need_them(tmp_path: Path) -> None:
    nodes = [bundles.NODES[0], BAD_NODE, *bundles.NODES[1:]]
    edges = [{"source": "x", "relation": "R", "target": "p1"}, *bundles.EDGES]
    source = bundles.write(tmp_path, nodes, edges)
    report = import_snapshot(source=source, tolerance=2, index=False)
    assert (report.nodes, report.edges, report.bad_rows) == (3, 2, 2)
    assert report.snapshot is not None
    assert [node[1] for node in bundles.nodes_of(report.snapshot)] == ["f1", "f2", "p1"]
    with pytest.raises(ImportFailed, match="2 bad rows, 1 tolerated"):
        import_snapshot(source=source, tolerance=1, index=False)


@pytest.mark.django_db
def test_a_dry_run_says_what_there_is_and_writes_nothing(tmp_path: Path) -> None:
    report = import_snapshot(source=bundles.write(tmp_path), dry_run=True)
    assert (report.nodes, report.edges, report.snapshot, report.release) == (3, 2, None, None)
    assert not KnowledgeBase.objects.exists()


@pytest.mark.django_db
def test_a_bundle_without_a_single_node_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="has no entity that could be loaded"):
        import_snapshot(source=bundles.write(tmp_path, [], []), index=False)


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (None, "has no kb.json, so it is no bundle"),
        ("{", "kb.json is not valid JSON"),
        ("[]", "Expected one JSON object"),
        ('{"name": "a b", "node_types": {"film": {}}}', "'name' has to be letters, digits"),
        ('{"name": "films"}', "'node_types' has to be an object"),
        ('{"name": "films", "node_types": {"film": 5}}', "The type 'film' has to be an object"),
        (
            '{"name": "films", "node_types": {"film": {"fields": {"year": {"type": "int"}}}}}',
            "Field 'year' of 'film' has the unknown type 'int'; known are text, keyword, number, date",
        ),
        (
            '{"name": "films", "node_types": {"film": {}}, "relation_types": [{"relation": "R", "source": "song"}]}',
            "relation_types[0] has the unknown type 'song' as its source",
        ),
        (
            '{"name": "films", "node_types": {"film": {}}, "language": "%s"}' % ("x" * 21),
            "'language' has 21 characters",
        ),
    ],
)
def test_a_manifest_that_cannot_be_used_gets_a_sentence(tmp_path: Path, manifest: str | None, sentence: str) -> None:
    bundles.write(tmp_path)
    if manifest is None:
        (tmp_path / "kb.json").unlink()
    else:
        (tmp_path / "kb.json").write_text(manifest)
    with pytest.raises(ImportFailed) as failure:
        import_snapshot(source=tmp_path, dry_run=True)
    assert sentence in str(failure.value)


@pytest.mark.django_db(transaction=True)
def test_of_two_imports_at_once_the_second_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.ingest.locks.GRACE_SECONDS", 0.0)
    source = bundles.write(tmp_path)
    with another_session() as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended('grasp import of films', 0))")
        with pytest.raises(ImportFailed, match="Another import of 'films' is running"):
            import_snapshot(source=source, index=False)
        assert import_snapshot(source=source, name="other", index=False).snapshot
    # Postgres releases the lock of a closed session a moment later.
    monkeypatch.undo()
    with import_lock("films") as free:
        assert free


@pytest.mark.django_db(transaction=True)
def test_an_import_that_loses_its_connection_fails_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    source = bundles.write(tmp_path)

    def disconnect(step: str, done: int, total: int | None) -> None:
        if step == "Indexing relations" and connection.connection is not None:
            with another_session(autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])

    with pytest.raises(ImportFailed, match="Postgres failed during the import"):
        import_snapshot(source=source, index=False, run=plain_run(disconnect))
    connection.close()
    report = import_snapshot(source=source, index=False)
    assert report.snapshot is not None
    assert partitions.existing() == [f"search_edge_{report.snapshot}", f"search_node_{report.snapshot}"]
    assert list(Snapshot.objects.values_list("status", flat=True)) == [BuildStatus.READY, BuildStatus.FAILED]


@pytest.mark.django_db
def test_older_snapshots_that_never_became_a_release_are_dropped(tmp_path: Path) -> None:
    source = bundles.write(tmp_path)
    first, second = (import_snapshot(source=source, index=False).snapshot for _ in range(2))
    assert dict(Snapshot.objects.values_list("pk", "status")) == {first: BuildStatus.DROPPED, second: BuildStatus.READY}
    assert partitions.existing() == [f"search_edge_{second}", f"search_node_{second}"]


@pytest.mark.django_db
def test_full_disks_get_a_sentence(tmp_path: Path) -> None:
    def full(step: str, done: int, total: int | None) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(ImportFailed, match="The disk is full; the active release was not changed"):
        import_snapshot(source=bundles.write(tmp_path), index=False, run=plain_run(full))


class Stopped:
    """Asks the run to stop at its look number `at`; the looks before are counted."""

    def __init__(self, at: int) -> None:
        self.looks = 0
        self._at = at

    def __call__(self) -> bool:
        self.looks += 1
        return self.looks >= self._at


@pytest.mark.django_db
def test_an_import_that_is_cancelled_anywhere_stops_at_the_next_look_and_leaves_nothing(tmp_path: Path) -> None:
    source = bundles.write(tmp_path)
    counted = Stopped(at=10**9)
    import_snapshot(source=source, name="whole", index=False, run=RunContext(limit=Limit(cancelled=counted)))
    looks, tables = counted.looks, partitions.existing()
    # The threads that watch statements look as well, now and then.
    assert looks > 15
    for at in range(1, 15):
        stopped = Stopped(at)
        with pytest.raises(RunCancelled):
            import_snapshot(source=source, index=False, run=RunContext(limit=Limit(cancelled=stopped)))
        assert stopped.looks < at + 3
        assert partitions.existing() == tables
        assert not Snapshot.objects.filter(knowledge_base__name="films").exclude(status=BuildStatus.FAILED).exists()


@pytest.mark.django_db
def test_a_second_attempt_of_the_same_job_keeps_what_was_loaded(tmp_path: Path) -> None:
    notes, parts = NotesInMemory(), list[str]()

    def interrupt(part: str, done: int, total: int | None) -> None:
        parts.append(part)
        if part == "Loading relations" and done:
            raise OperationalError("the server went away")

    source = bundles.write(tmp_path)
    with pytest.raises(ImportFailed, match="Postgres failed during the import"):
        import_snapshot(source=source, index=False, run=RunContext(progress=interrupt, notes=notes))
    [begun] = Snapshot.objects.filter(status=BuildStatus.BUILDING)
    parts.clear()
    run = RunContext(progress=lambda part, done, total: parts.append(part), notes=notes)
    again = import_snapshot(source=source, index=False, run=run)
    assert again.snapshot == begun.pk
    assert "Loading entities" not in parts
    assert "Loading relations" in parts
    assert len(bundles.edges_of(begun.pk)) == 2
    # A third attempt finds all of it.
    parts.clear()
    third = import_snapshot(source=source, index=False, run=run)
    assert (third.snapshot, third.nodes, third.edges, parts) == (begun.pk, 3, 2, [])


@pytest.mark.django_db
def test_a_bundle_that_changed_meanwhile_is_loaded_anew(tmp_path: Path) -> None:
    notes = NotesInMemory()

    def interrupt(part: str, done: int, total: int | None) -> None:
        if part == "Loading relations":
            raise OperationalError("the server went away")

    with pytest.raises(ImportFailed):
        import_snapshot(source=bundles.write(tmp_path), index=False, run=RunContext(progress=interrupt, notes=notes))
    report = import_snapshot(
        source=bundles.write(tmp_path, bundles.NODES[:2], bundles.EDGES[:1]), index=False, run=RunContext(notes=notes)
    )
    assert (report.nodes, report.edges) == (2, 1)
    assert sorted(Snapshot.objects.values_list("status", flat=True)) == [BuildStatus.FAILED, BuildStatus.READY]


@pytest.mark.django_db
def test_a_release_that_an_admin_replaced_meanwhile_is_not_activated_again(tmp_path: Path, quick_encoder: None) -> None:
    source, run = bundles.write(tmp_path), RunContext(notes=NotesInMemory())
    first = import_snapshot(source=source, run=run)
    other = import_snapshot(source=source)
    assert import_snapshot(source=source, run=run).release == first.release
    assert str(KnowledgeBase.objects.get(name="films").active_release) == other.release
