"""The vector engine over the life of a release: filled while indexing, asked, away, filled anew, and emptied."""

from __future__ import annotations

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.db import connection
from pytest_django.fixtures import Settings

from grasp_site.environment import SettingError, env_read, read_memory
from search import wiring
from search.adapters import vectors_diskann, vectors_pgvector
from search.adapters.breaker import Breaker
from search.checks import check_vectors_url
from search.domain.run_context import RunCancelled, RunContext
from search.ingest import partitions, vector_engine, vectors
from search.ingest.cleanup import remove_dead
from search.models import SearchStep, VectorSet
from search.models.knowledge import BuildStatus
from search.models.vector_servers import EngineAway, parse
from search.services import health
from search.services.knowledge import index_snapshot, releases, vector_state
from search.services.knowledge.index_snapshot import IndexFailed, build_index
from search.services.searches.request_search import request_search
from search.services.searches.run_search import ranking_of, run_search
from tests.fakes import HashEncoder
from tests.search.services.knowledge.test_index_snapshot import GRAPH, snapshot_of
from tests.vector_server import VectorPostgres, lines_of

ENCODER = HashEncoder()
NAMES = [node.name for node in GRAPH.nodes]
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^grasp_' ORDER BY relname"


@pytest.fixture
def engine(vector_server: VectorPostgres, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database of the engine, for sets that count as large."""
    for module in (vectors_pgvector, index_snapshot, vector_engine, vector_state):
        monkeypatch.setattr(module, "IN_MEMORY", len(GRAPH.nodes) - 1)
    # Everything is looked up in the index.
    monkeypatch.setattr(vectors_pgvector, "EXACT_BELOW", 0)
    monkeypatch.setattr(vectors, "HNSW_ABOVE", 0)
    settings.GRASP_ENCODERS = {ENCODER.name: {}}
    settings.VECTORS_URL = vector_server.database("life")
    settings.GRASP_TOOLS = {
        **django_settings.GRASP_TOOLS,
        "vectors": {"BACKEND": "search.adapters.vectors_diskann.DiskAnnVectors"},
        "encoder": {"BACKEND": "tests.fakes.HashEncoder"},
    }
    vectors_diskann.breaker.cache_clear()
    return settings.VECTORS_URL


def first(tools: wiring.Tools, name: str) -> str:
    """Return the name of the node whose name is nearest to this one."""
    (found,) = tools.vectors.nearest("name", ENCODER.vector(name), 1)
    return tools.nodes.references([found.key])[0].name


def indexes_of(vector_set: VectorSet) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename = %s", [f"search_vector_{vector_set.pk}"])
        return {definition.partition("USING ")[2].partition(" ")[0] for (definition,) in cursor.fetchall()}


@pytest.mark.django_db
def test_a_large_release_is_searched_in_the_engine_and_dropped_there_with_its_data(engine: str) -> None:
    snapshot = snapshot_of()
    built = build_index(snapshot=snapshot, encoder=ENCODER)
    vector_set = built.release.vector_set
    table = f"grasp_vectors_{vector_set.pk}_0_of_1"
    assert lines_of(engine, TABLES) == [table]
    assert lines_of(engine, f"SELECT kind FROM {table} GROUP BY kind ORDER BY kind") == [
        "document+relations", "name", "neighbours", "neighbours2",
    ]  # fmt: skip
    # Postgres keeps the vectors, and needs no index of neighbours.
    assert indexes_of(vector_set) == {"btree"}
    assert vector_state.vector_state() == ""
    tools = wiring.Tools(built.release)
    assert tools.vectors.backend == "pgvectorscale"
    partitions._execute("DELETE FROM {table}", table=f"search_vector_{vector_set.pk}")
    assert [first(tools, name) for name in NAMES] == NAMES
    releases.drop_release(knowledge_base=snapshot.knowledge_base, release=built.release)
    assert lines_of(engine, TABLES) == []


@pytest.mark.django_db
def test_the_engine_answers_by_its_index(engine: str) -> None:
    vector_set = build_index(snapshot=snapshot_of(), encoder=ENCODER).release.vector_set
    asked = (
        f"SELECT key FROM grasp_vectors_{vector_set.pk}_0_of_1 WHERE kind = 'name' AND type = ANY('{{0}}') "
        f"ORDER BY embedding <=> '{ENCODER.vector('x').tolist()}'::vector({ENCODER.dimensions}) LIMIT 3"
    )
    # So few rows would be scanned.
    plan = lines_of(
        engine, f"EXPLAIN {asked}", "SET enable_seqscan = off", "SET enable_bitmapscan = off", "SET enable_sort = off"
    )
    assert any(f"Index Scan using grasp_filling_{vector_set.pk}_0_of_1_1" in line for line in plan)
    definitions = lines_of(engine, "SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%diskann%' ORDER BY indexdef")
    assert [definition.partition("WHERE ")[2] for definition in definitions] == [
        f"(kind = '{kind}'::text)" for kind in ("name", "document+relations", "neighbours", "neighbours2")
    ]


@pytest.mark.django_db
def test_a_copy_that_was_interrupted_goes_on_and_no_search_sees_a_part(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_engine, "BLOCK", 5)
    copied: list[int] = []

    def progress(part: str, done: int, total: int | None) -> None:
        if part == vector_engine.COPY_VECTORS:
            copied.append(done)
            if len(copied) == 2:
                raise RunCancelled

    snapshot = snapshot_of()
    with pytest.raises(RunCancelled):
        build_index(snapshot=snapshot, encoder=ENCODER, run=RunContext(progress=progress))
    [vector_set] = snapshot.vector_sets.all()
    unfinished = f"grasp_filling_{vector_set.pk}_0_of_1"
    assert lines_of(engine, TABLES) == [unfinished]
    assert lines_of(engine, f"SELECT key FROM {unfinished} ORDER BY key") == list("01234")
    assert vector_engine.held(parse(engine)[0]) == set()
    release = build_index(snapshot=snapshot, encoder=ENCODER).release
    assert lines_of(engine, TABLES) == [f"grasp_vectors_{vector_set.pk}_0_of_1"]
    assert lines_of(
        engine, f"SELECT key FROM grasp_vectors_{vector_set.pk}_0_of_1 WHERE kind = 'name' ORDER BY key"
    ) == [str(key) for key in range(len(NAMES))]
    assert [first(wiring.Tools(release), name) for name in NAMES] == NAMES


@pytest.mark.django_db
def test_without_the_engine_nothing_large_is_released_and_the_next_call_goes_on(
    engine: str, vector_server: VectorPostgres
) -> None:
    snapshot = snapshot_of()
    vector_server.stop()
    try:
        with pytest.raises(IndexFailed, match=r"The vectors were not copied: the vector engine does not answer: .*"):
            build_index(snapshot=snapshot, encoder=ENCODER)
    finally:
        vector_server.start()
    assert not snapshot.releases.exists()
    assert build_index(snapshot=snapshot, encoder=ENCODER).embedded == 0
    assert snapshot.releases.count() == 1


class Clock:
    """A clock that stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.django_db
def test_an_engine_that_is_away_is_told_and_asked_again_by_itself(
    engine: str, vector_server: VectorPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    guard = Breaker(clock)
    monkeypatch.setattr(vectors_diskann, "breaker", lambda servers: guard)
    base = snapshot_of().knowledge_base
    release = build_index(snapshot=base.snapshots.get(), encoder=ENCODER).release
    releases.activate_release(knowledge_base=base, release=release)
    tools = wiring.Tools(release)
    assert first(tools, "Person 3") == "Person 3"
    # The connections of this process break, and nobody notices.
    vector_server.stop()
    vector_server.start()
    assert first(tools, "Person 4") == "Person 4"
    vector_server.stop()
    try:
        with pytest.raises(EngineAway, match="the vector engine does not answer") as raised:
            first(tools, "Person 5")
        assert not raised.value.permanent
        assert vector_state.vector_state().endswith("Large knowledge bases are searched by words.")
    finally:
        vector_server.start()
    # It is left alone for a second.
    with pytest.raises(EngineAway):
        first(tools, "Person 5")
    clock.now = 1.1
    assert first(tools, "Person 5") == "Person 5"
    assert vector_state.vector_state() == ""


@pytest.mark.django_db
def test_after_a_change_of_its_servers_postgres_answers_until_the_vectors_are_copied_anew(
    engine: str, vector_server: VectorPostgres, settings: Settings
) -> None:
    base = snapshot_of().knowledge_base
    release = build_index(snapshot=base.snapshots.get(), encoder=ENCODER).release
    releases.activate_release(knowledge_base=base, release=release)
    settings.VECTORS_URL = f"{engine},{vector_server.database('second')}"
    tools = wiring.Tools(release)
    assert [first(tools, name) for name in NAMES] == NAMES
    assert vector_state.vector_state() == (
        "The vector engine does not hold the vectors of films, so Postgres looks for them. `index_kb` copies them."
    )
    build_index(snapshot=release.snapshot, encoder=ENCODER)
    one, two = (server.address for server in parse(settings.VECTORS_URL))
    own = release.vector_set_id
    assert lines_of(one, TABLES) == [f"grasp_vectors_{own}_0_of_2"]
    assert lines_of(two, TABLES) == [f"grasp_vectors_{own}_1_of_2"]
    assert {int(key) % 2 for key in lines_of(two, f"SELECT key FROM grasp_vectors_{own}_1_of_2")} == {1}
    partitions._execute("DELETE FROM {table}", table=f"search_vector_{own}")
    assert [first(tools, name) for name in NAMES] == NAMES
    # Each server is asked for as many as are wanted, so that the best of all are found wherever they lie.
    everything = [found.key for found in tools.vectors.nearest("name", ENCODER.vector("x"), len(NAMES))]
    cosines = np.array([ENCODER.vector(name) @ ENCODER.vector("x") for name in NAMES])
    assert everything == np.argsort(-cosines, kind="stable").tolist()


@pytest.mark.django_db
def test_what_could_not_be_dropped_is_dropped_by_the_next_import(engine: str, vector_server: VectorPostgres) -> None:
    snapshot = snapshot_of()
    release = build_index(snapshot=snapshot, encoder=ENCODER).release
    vector_server.stop()
    try:
        releases.drop_release(knowledge_base=snapshot.knowledge_base, release=release)
    finally:
        vector_server.start()
    assert len(lines_of(engine, TABLES)) == 1
    assert VectorSet.objects.get(pk=release.vector_set_id).status == BuildStatus.DROPPED
    remove_dead()
    assert lines_of(engine, TABLES) == []


@pytest.mark.django_db
def test_a_small_release_is_not_copied(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_engine, "IN_MEMORY", len(GRAPH.nodes))
    build_index(snapshot=snapshot_of(), encoder=ENCODER)
    assert lines_of(engine, TABLES) == []


@pytest.mark.django_db
def test_a_database_without_the_extension_is_refused_with_its_remedy(engine: str, settings: Settings) -> None:
    own = django_settings.DATABASES["default"]
    settings.VECTORS_URL = f"postgresql://{own['USER']}:{own['PASSWORD']}@/{own['NAME']}?host={own['HOST']}"
    with pytest.raises(IndexFailed, match=r"has no extension vectorscale .* CREATE EXTENSION vectorscale CASCADE"):
        build_index(snapshot=snapshot_of(), encoder=ENCODER)


def test_an_address_that_cannot_be_read_is_told_without_its_password(settings: Settings) -> None:
    settings.VECTORS_URL = "postgresql://grasp:hidden-word@db/vectors, qdrant://grasp:hidden-word@db"
    [fault] = check_vectors_url()
    assert fault.id == "search.E012"
    assert fault.msg.startswith("VECTORS_URL takes postgresql://user:password@host:port/name")
    assert "hidden-word" not in fault.msg
    settings.VECTORS_URL = "postgresql://grasp:hidden-word@db/vectors?nonsense=1"
    assert "hidden-word" not in check_vectors_url()[0].msg
    settings.VECTORS_URL = ""
    assert check_vectors_url() == []


@pytest.mark.django_db
def test_an_index_is_built_with_the_memory_and_workers_of_the_settings(settings: Settings) -> None:
    settings.VECTORS_MEMORY, settings.VECTORS_WORKERS = "96MB", 3
    vectors._allow_memory()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('maintenance_work_mem'), current_setting('max_parallel_maintenance_workers')"
        )
        assert cursor.fetchone() == ("96MB", "3")


def test_an_amount_of_memory_has_a_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [read_memory(text) for text in ("1GB", "512 MB", "64kB")] == ["1GB", "512MB", "64kB"]
    monkeypatch.setenv("VECTORS_MEMORY", "much")
    with pytest.raises(SettingError, match="VECTORS_MEMORY: 'much' is no amount of memory"):
        env_read("VECTORS_MEMORY", read_memory)


@pytest.mark.django_db
def test_a_search_goes_by_words_while_the_engine_is_away_and_the_site_stays_ready(
    engine: str, vector_server: VectorPostgres, settings: Settings
) -> None:
    settings.GRASP_HEALTH = {"vector engine": "grasp_site.health.vector_engine"}
    base = snapshot_of().knowledge_base
    release = build_index(snapshot=base.snapshots.get(), encoder=ENCODER).release
    releases.activate_release(knowledge_base=base, release=release)

    def asked() -> dict[str, SearchStep]:
        run = request_search(knowledge_base="films", question="a road through the forest", enqueue=False)
        done = run_search(run.pk)
        assert (done.status, done.error) == ("done", None)
        assert ranking_of(done)[0][0] == "film/1"
        return {step.name: step for step in done.steps.all()}

    assert asked()["retrieve"].status == "ok"
    assert health.system_status() == [{"name": "vector engine", "state": "ready", "reason": ""}]
    vector_server.stop()
    try:
        step = asked()["retrieve"]
        assert step.status == "degraded"
        assert step.detail.startswith("The vector engine does not answer: ")
        assert step.detail.endswith("Documents are found by their words alone meanwhile.")
        [state] = health.system_status()
        assert (state["state"], health.all_ready([state])) == ("degraded", True)
    finally:
        vector_server.start()
    vectors_diskann.breaker.cache_clear()
    assert asked()["retrieve"].status == "ok"
