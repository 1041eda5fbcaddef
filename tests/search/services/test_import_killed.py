"""An import that is killed, wherever it stands: nobody sees a row of it, and the next one starts clean.

Each place is held still by a lock that the import has to wait for, so that the kill hits it there and nowhere else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from grasp_site.embedded.home import Home
from search.ingest import partitions
from search.models import KnowledgeBase, Node, Release, Snapshot
from search.models.knowledge import BuildStatus
from search.services.knowledge.import_snapshot import import_snapshot
from tests.search.ingest import bundles

DEADLINE_SECONDS = 60.0
PERSONS = 3_000


@pytest.fixture
def answering(transactional_db: None, tmp_path: Path) -> KnowledgeBase:
    """The films, answering from an earlier import."""
    report = import_snapshot(source=bundles.write(tmp_path / "first"), index=False)
    base = KnowledgeBase.objects.get(name="films")
    snapshot = Snapshot.objects.get(pk=report.snapshot)
    base.active_release = Release.objects.create(
        knowledge_base=base, number=1, snapshot=snapshot, status=BuildStatus.READY
    )
    base.save()
    return base


@pytest.fixture
def larger(tmp_path: Path) -> Path:
    """A second edition, with more in it."""
    people = [{"id": f"p{i}", "type": "person", "name": f"Person {i}"} for i in range(2, PERSONS + 2)]
    edges = [{"source": "f1", "relation": "STARS", "target": person["id"]} for person in people]
    return bundles.write(tmp_path / "second", [*bundles.NODES, *people], [*bundles.EDGES, *edges])


# The lock that is held, and how one sees that the import waits for it.
PLACES = {
    "before it makes a table": ("ACCESS EXCLUSIVE", "search_node"),
    "before it makes the second table": ("ACCESS EXCLUSIVE", "search_edge"),
    "before it is attached": ("SHARE UPDATE EXCLUSIVE", "search_node"),
    "half attached": ("SHARE UPDATE EXCLUSIVE", "search_edge"),
}


@pytest.mark.parametrize("place", PLACES)
def test_nobody_sees_a_row_of_a_killed_import_and_the_next_one_starts_clean(
    place: str, answering: KnowledgeBase, larger: Path, services: Home
) -> None:
    mode, table = PLACES[place]
    before = [node[1] for node in bundles.nodes_of(answering.active_release.snapshot)]
    with psycopg.connect(_database(services)) as holder, _importing(larger, services) as process:
        holder.execute(f"LOCK TABLE {table} IN {mode} MODE")
        process.go()
        _wait(lambda: _waits_for(table), "the import never came to the lock")
        process.kill()
        holder.rollback()
    assert Node.objects.exclude(snapshot_id=answering.active_release.snapshot_id).count() == 0
    assert [node[1] for node in bundles.nodes_of(answering.active_release.snapshot)] == before
    dead = Snapshot.objects.get(status=BuildStatus.BUILDING)

    report = import_snapshot(source=larger, index=False)
    assert (report.nodes, report.edges) == (PERSONS + 3, PERSONS + 2)
    dead.refresh_from_db()
    assert dead.status == BuildStatus.FAILED
    kept = {answering.active_release.snapshot_id, report.snapshot}
    assert set(partitions.existing()) == {f"search_{what}_{pk}" for pk in kept for what in ("node", "edge")}
    answering.refresh_from_db()
    assert answering.active_release.number == 1


def test_an_import_killed_while_it_copies_edges_leaves_nothing(
    answering: KnowledgeBase, larger: Path, services: Home
) -> None:
    with psycopg.connect(_database(services)) as holder, _importing(larger, services) as process:
        # Each partition is emptied before it is filled, which waits for anybody who looks at it.
        holder.execute("LOCK TABLE search_edge IN ACCESS EXCLUSIVE MODE")
        process.go()
        _wait(lambda: _waits_for("search_edge"), "the import never came to the lock")
        building = Snapshot.objects.get(status=BuildStatus.BUILDING).pk
        with psycopg.connect(_database(services)) as reader:
            reader.execute(f"LOCK TABLE search_node_{building} IN ACCESS SHARE MODE")
            holder.rollback()
            _wait(lambda: _waits_for(f"search_node_{building}"), "the import never came to its nodes")
            edges = psycopg.connect(_database(services))
            edges.execute(f"LOCK TABLE search_edge_{building} IN ACCESS SHARE MODE")
        _wait(lambda: _waits_for(f"search_edge_{building}"), "the import never came to its edges")
        assert _rows(f"search_node_{building}") == PERSONS + 3
        process.kill()
        edges.close()
    assert Node.objects.exclude(snapshot_id=answering.active_release.snapshot_id).count() == 0
    report = import_snapshot(source=larger, index=False)
    assert f"search_node_{building}" not in partitions.existing()
    assert Snapshot.objects.get(pk=report.snapshot).status == BuildStatus.READY


class _Import:
    """An import in a process of its own."""

    def __init__(self, source: Path, services: Home) -> None:
        self._command = [sys.executable, "manage.py", "import_kb", str(source), "--no-index", "--json"]
        self._environment = {**os.environ, "DATABASE_URL": _database(services), "REDIS_URL": services.redis_url}
        self._process: subprocess.Popen[bytes] | None = None

    def go(self) -> None:
        self._process = subprocess.Popen(
            self._command, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@contextmanager
def _importing(source: Path, services: Home) -> Iterator[_Import]:
    process = _Import(source, services)
    try:
        yield process
    finally:
        process.kill()


def _database(services: Home) -> str:
    return services.database_url.replace("/grasp?", f"/{settings.DATABASES['default']['NAME']}?")


def _wait(condition: Callable[[], bool], failure: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, failure
        time.sleep(0.02)


def _waits_for(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = to_regclass(%s)", [table])
        return cursor.fetchone() is not None


def _rows(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])
