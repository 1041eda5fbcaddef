"""sync_graph: copies the active snapshot of a knowledge base into Neo4j, or compares it with its copy there."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.compare import EdgeArrays, GraphComparison, shortened
from search.adapters.graph_neo4j.connection import Connection, connect
from search.adapters.graph_neo4j.names import Names
from search.adapters.graph_neo4j.project import Marker, OvertakenByAnother, Projection, markers
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.graph import FieldValue, Schema
from search.domain.run_context import RunCancelled, RunContext
from search.ingest import documents
from search.ingest.locks import import_lock
from search.ingest.parts import COMPARE_GRAPH, REMOVE_GRAPHS, WRITE_EDGES, WRITE_NODES
from search.models import KnowledgeBase, Snapshot
from search.services.jobs.run_context import plain_run

NODES_AT_ONCE = 2_000
EDGES_AT_ONCE = 5_000
ATTEMPTS = 5
"""Times that a sync continues after another process has written into the same projection."""
COMPARED = 50_000
"""About this many nodes are compared in full; if there are more, an evenly spaced sample is taken."""

SyncOutcome = Literal["written", "resumed", "up to date", "compared"]


class SyncFailed(Exception):
    """The projection could not be finished or compared; the text is a sentence for people."""


@dataclass
class SyncReport:
    """The outcome of a sync: size, seconds of each part, and the differences between projection and snapshot."""

    knowledge_base: str
    snapshot: int
    nodes: int
    edges: int
    outcome: SyncOutcome
    seconds: dict[str, float] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as a JSON object, with seconds rounded to milliseconds."""
        return {
            "knowledge_base": self.knowledge_base,
            "snapshot": self.snapshot,
            "nodes": self.nodes,
            "edges": self.edges,
            "outcome": self.outcome,
            "seconds": {part: round(seconds, 3) for part, seconds in self.seconds.items()},
            "differences": self.differences,
        }


def sync_graph(*, knowledge_base: KnowledgeBase, run: RunContext | None = None) -> SyncReport:
    """Copy the active snapshot into Neo4j, then remove older projections of the knowledge base; return the outcome.

    A projection that is complete and correct is kept; one that is incomplete is continued. Raises SyncFailed, and
    RunCancelled, after which the next call continues.
    """
    run = run or plain_run()
    with _at_work(knowledge_base, run) as (connection, snapshot):
        return _Sync(connection, knowledge_base.name, snapshot, run).run()


def check_graph(*, knowledge_base: KnowledgeBase, run: RunContext | None = None) -> SyncReport:
    """Compare the projection of the active snapshot with the snapshot, change nothing, and return the outcome.

    Raises SyncFailed.
    """
    run = run or plain_run()
    with _at_work(knowledge_base, run) as (connection, snapshot):
        sync = _Sync(connection, knowledge_base.name, snapshot, run)
        began = time.perf_counter()
        sync.synced.differences = sync.differences()
        sync.synced.seconds["compare"] = time.perf_counter() - began
        return sync.synced


def remove_graph(*, knowledge_base: str, schema: Schema) -> None:
    """Remove every projection of a deleted knowledge base. Raises SyncFailed."""
    connection = _connected()
    try:
        for marker in markers(connection):
            if marker.knowledge_base == knowledge_base:
                Projection(connection, Names(marker.snapshot, schema)).remove()
    except StageError as error:
        raise SyncFailed(f"{error.reason}.") from error


def _connected() -> Connection:
    if not settings.NEO4J_URL:
        raise SyncFailed("NEO4J_URL is not set, so there is no Neo4j to put the graph into.")
    try:
        return connect(Address.parse(settings.NEO4J_URL))
    except ValueError as error:
        raise SyncFailed(str(error)) from error


@contextmanager
def _at_work(knowledge_base: KnowledgeBase, run: RunContext) -> Iterator[tuple[Connection, Snapshot]]:
    """Hold the knowledge base's lock, so that its snapshot is kept and no other process writes the projection."""
    connection = _connected()
    with import_lock(knowledge_base.name, run=run) as free:
        if not free:
            raise SyncFailed(f"An import or a sync of '{knowledge_base.name}' is running; wait until it has ended.")
        knowledge_base.refresh_from_db()
        if knowledge_base.active_release is None:
            raise SyncFailed(f"'{knowledge_base.name}' has no active release; import it first.")
        try:
            yield connection, knowledge_base.active_release.snapshot
        except SearchCancelled as error:
            raise RunCancelled() from error
        except DeadlineExceeded:
            run.check()
            raise
        except StageError as error:
            raise SyncFailed(f"{error.reason}.") from error


class _Sync:
    """One sync of one snapshot."""

    def __init__(self, connection: Connection, knowledge_base: str, snapshot: Snapshot, run: RunContext) -> None:
        self._connection = connection
        self._snapshot = snapshot
        self._schema: Schema = snapshot.schema
        self._names = Names(snapshot.pk, self._schema)
        self._projection = Projection(connection, self._names, run.limit.cancelled)
        self._run = run
        self.synced = SyncReport(knowledge_base, snapshot.pk, snapshot.nodes, snapshot.edges, "compared")

    def run(self) -> SyncReport:
        """Write the missing parts, remove outdated projections, and return the outcome."""
        began = time.perf_counter()
        known = markers(self._connection)
        mine = next((marker for marker in known if marker.snapshot == self._snapshot.pk), None)
        if mine is not None and self._is_whole(mine) and not self.differences():
            self.synced.outcome = "up to date"
        else:
            resumed = mine is not None and mine.state == "building" and mine.fingerprint == self._names.fingerprint
            if mine is not None and not resumed:
                self._remove(self._projection)
            self.synced.outcome = "resumed" if resumed else "written"
            self._write()
        for marker in known:
            if marker.knowledge_base == self.synced.knowledge_base and marker.snapshot != self._snapshot.pk:
                old = Names(marker.snapshot, self._schema)
                self._remove(Projection(self._connection, old, self._run.limit.cancelled))
        self.synced.seconds["total"] = time.perf_counter() - began
        return self.synced

    def differences(self) -> list[str]:
        """Return sentences about the differences between snapshot and projection."""
        mine = next((marker for marker in markers(self._connection) if marker.snapshot == self._snapshot.pk), None)
        if mine is None:
            return [f"Neo4j does not hold {self._snapshot}."]
        if mine.fingerprint != self._names.fingerprint:
            return [f"The imported data {self._snapshot.pk} in Neo4j comes from another installation."]
        if mine.state != "whole":
            return [f"The copy of {self._snapshot} is not finished: {mine.nodes:,} entities, {mine.edges:,} relations."]
        comparison = GraphComparison(self._connection, self._names)
        edges = documents.edges(self._snapshot.pk)
        found = comparison.counts(edges) or comparison.edges(edges)
        return found + shortened(self._unlike_nodes(comparison))

    def _unlike_nodes(self, comparison: GraphComparison) -> Iterator[str]:
        stride = -(-self._snapshot.nodes // COMPARED) or 1
        done = 0
        for block in documents.nodes(self._snapshot.pk, self._schema, size=NODES_AT_ONCE):
            yield from comparison.nodes(block[::stride])
            done += len(block)
            self._run.report(COMPARE_GRAPH, done, self._snapshot.nodes)

    def _is_whole(self, marker: Marker) -> bool:
        return marker.state == "whole" and marker.fingerprint == self._names.fingerprint

    def _write(self) -> None:
        """Write what is missing, and mark the projection as complete.

        A process that had this job before may still write its last batch. Then the next batch of this process is
        refused, and it continues behind that batch; the process that has lost the job ends at the fence.
        """
        self._projection.begin(self.synced.knowledge_base)
        edges = documents.edges(self._snapshot.pk, self._run.check)
        for attempt in range(1, ATTEMPTS + 1):
            mine = next(marker for marker in markers(self._connection) if marker.snapshot == self._snapshot.pk)
            try:
                self._write_missing(mine, edges)
                break
            except OvertakenByAnother as error:
                with self._run.fenced():
                    pass
                if attempt == ATTEMPTS:
                    raise SyncFailed("Another process writes the same copy into Neo4j; this one gives up.") from error
        if wrong := GraphComparison(self._connection, self._names).counts(edges):
            # Another process has written under this label, so continuing would not repair it.
            with self._run.fenced():
                self._projection.remove()
            raise SyncFailed(f"The copy in Neo4j differed from the imported data and was removed: {' '.join(wrong)}")
        with self._run.fenced():
            self._projection.finish()

    def _write_missing(self, mine: Marker, edges: EdgeArrays) -> None:
        self._timed("nodes", lambda: self._write_nodes(mine.nodes))
        self._timed("edges", lambda: self._write_edges(edges, mine.edges))

    def _write_nodes(self, done: int) -> None:
        for block in documents.nodes(self._snapshot.pk, self._schema, first=done, size=NODES_AT_ONCE):
            self._projection.write_nodes(block, done)
            done += len(block)
            self._run.report(WRITE_NODES, done, self._snapshot.nodes)

    def _write_edges(self, edges: EdgeArrays, done: int) -> None:
        """Write the edges from position `done` on; their order is the same in every run."""
        relation, source, target = edges
        order = np.lexsort((target, source, relation))
        relation, source, target = relation[order], source[order], target[order]
        while done < len(relation):
            code = int(relation[done])
            last = min(done + EDGES_AT_ONCE, int(np.searchsorted(relation, code, side="right")))
            ends = source[done:last], target[done:last]
            self._projection.write_edges(code, *ends, done, self._fields(code, *ends))
            done = last
            self._run.report(WRITE_EDGES, done, len(relation))

    def _fields(
        self, relation: int, source: NDArray[np.int32], target: NDArray[np.int32]
    ) -> list[Mapping[str, FieldValue]] | None:
        """Return the fields of some edges of a relation, sorted by source; None if its edges have none."""
        if not self._schema.relations[relation].fields:
            return None
        first, last = int(source[0]), int(source[-1]) + 1
        rows = documents.edge_fields(self._snapshot.pk, last, first=first, check=self._run.check)
        known = {(near, far): fields for code, near, far, fields in rows if code == relation}
        return [known.get(ends, {}) for ends in zip(source.tolist(), target.tolist(), strict=True)]

    def _remove(self, projection: Projection) -> None:
        self._run.report(REMOVE_GRAPHS, 0, None)
        with self._run.fenced():
            pass
        self._timed("remove", projection.remove)

    def _timed(self, part: str, work: Any) -> None:
        began = time.perf_counter()
        work()
        self.synced.seconds[part] = self.synced.seconds.get(part, 0.0) + time.perf_counter() - began
