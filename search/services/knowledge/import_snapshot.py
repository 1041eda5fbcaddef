"""import_snapshot: imports a bundle as a snapshot, indexes it as a release, and activates the release."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone
from psycopg.errors import DiskFull

from search.domain.run_context import LeaseLost, RunContext
from search.ingest import partitions
from search.ingest.cleanup import fail, remove_dead, remove_superseded
from search.ingest.faults import BundleError, FaultGroup, FaultLog, Groups, RowFault
from search.ingest.load import load
from search.ingest.locks import import_lock
from search.ingest.manifest import BASE_NAME, NAME_RULE
from search.ingest.source import Source, manifest_of
from search.ingest.validate import CheckedBundle, check
from search.models import KnowledgeBase, Snapshot
from search.models.knowledge import BuildStatus
from search.services.access.visible import taken
from search.services.audit.note import note
from search.services.jobs.run_context import plain_run
from search.services.knowledge.index_snapshot import IndexFailed, index_snapshot, usable_encoder
from search.services.knowledge.releases import activate_once

FAULTS_SHOWN = 20
SNAPSHOT_NOTE = "snapshot"
"""Name of the note that holds the id of the snapshot that an interrupted import of the same job has begun."""


@dataclass
class ImportReport:
    """The outcome of an import or a dry run; `snapshot` and `release` are None if they were not made.

    `seconds` holds the time that each part took.
    """

    knowledge_base: str
    nodes: int = 0
    edges: int = 0
    bad_rows: int = 0
    snapshot: int | None = None
    release: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    faults: list[RowFault] = field(default_factory=list)
    remarks: list[RowFault] = field(default_factory=list)
    groups: list[FaultGroup] = field(default_factory=list)
    remark_groups: list[FaultGroup] = field(default_factory=list)

    @property
    def fault_groups(self) -> list[FaultGroup]:
        """The faults by kind and column."""
        return self.groups or Groups(self.faults).listed()

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object with the first faults and remarks, one by one and by kind and column."""
        return {
            "knowledge_base": self.knowledge_base,
            "snapshot": self.snapshot,
            "release": self.release,
            "nodes": self.nodes,
            "edges": self.edges,
            "bad_rows": self.bad_rows,
            "seconds": {part: round(seconds, 3) for part, seconds in self.seconds.items()},
            "fault_groups": [group.to_json() for group in self.fault_groups[:FAULTS_SHOWN]],
            "faults": [asdict(fault) for fault in self.faults[:FAULTS_SHOWN]],
            "remarks": [asdict(remark) for remark in self.remarks[:FAULTS_SHOWN]],
        }

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Measure the seconds of a part."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] = time.perf_counter() - began


class ImportFailed(Exception):
    """No release was activated; the text is a sentence for people, `report` describes the import up to the failure."""

    def __init__(self, message: str, report: ImportReport) -> None:
        self.report = report
        super().__init__(message)


def import_snapshot(
    *,
    source: Path | Source,
    name: str | None = None,
    tolerance: int = 0,
    report: Path | None = None,
    dry_run: bool = False,
    index: bool = True,
    embed: bool = True,
    activate: bool = True,
    visibility: str = "",
    run: RunContext | None = None,
) -> ImportReport:
    """Import `source`, or the bundle in the folder `source`, as the knowledge base `name`, or as the one that it names.

    If there are more than `tolerance` bad rows, nothing is loaded; otherwise the bad rows are left out. `report` is the
    file for all faults. With `dry_run` the bundle is only checked, without `index` no release is made, without `embed`
    the release has no vectors, and without `activate` it is not activated. In every case the previous release stays
    active until the new one is ready. `visibility` says who may search the knowledge base from now on; empty: everybody
    for a new one, and no change for one that is there.

    If the process dies, a second call with the `run` of the same job goes on: it keeps what was loaded, if the bundle
    is still the same, and what was indexed. Raises ImportFailed; RunCancelled after the unfinished data were removed.
    """
    outcome = ImportReport(name or source.name)
    try:
        outcome.knowledge_base = name or manifest_of(source).name
        if not BASE_NAME.fullmatch(outcome.knowledge_base):
            raise BundleError(f"'{outcome.knowledge_base}' is not a valid name for a knowledge base: {NAME_RULE}.")
        run = run or plain_run()
        if not run.may_write(outcome.knowledge_base):
            raise BundleError(taken(outcome.knowledge_base))
        importing = _Import(source, tolerance, report, visibility, run, outcome)
        with outcome.timed("total"):
            if dry_run:
                importing.check()
            else:
                importing.run(index, embed, activate)
    except BundleError as error:
        outcome.faults = outcome.faults or list(error.faults)
        raise ImportFailed(str(error), outcome) from error
    except IndexFailed as error:
        raise ImportFailed(str(error), outcome) from error
    except (OperationalError, InterfaceError) as error:
        if isinstance(error.__cause__, DiskFull):
            raise ImportFailed("The disk of Postgres is full; the active release was not changed.", outcome) from error
        raise ImportFailed(f"Postgres failed during the import: {error}", outcome) from error
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise ImportFailed(f"The import failed: {error}", outcome) from error
        raise ImportFailed("The disk is full; the active release was not changed.", outcome) from error
    return outcome


class _Import:
    """One import of one bundle."""

    def __init__(
        self, source: Path | Source, tolerance: int, report: Path | None, visibility: str, run: RunContext,
        outcome: ImportReport,
    ) -> None:  # fmt: skip
        self._source = source
        self._tolerance = tolerance
        self._report = report
        self._visibility = visibility
        self._run = run
        self._outcome = outcome

    def run(self, index: bool, embed: bool, activate: bool) -> None:
        """Check, load, index and activate; parts that an interrupted import has finished are kept."""
        base = self._outcome.knowledge_base
        if index and embed:
            usable_encoder()
        with import_lock(base, run=self._run) as free:
            if not free:
                raise BundleError(f"Another import of '{base}' is running; wait until it has ended.")
            begun = self._begun()
            remove_dead(keep=begun.pk if begun else None)
            if begun is not None and begun.status == BuildStatus.READY:
                snapshot = begun
                self._describe(snapshot)
            else:
                snapshot = self._load(self.check(), begun)
            if index:
                self._index(snapshot, embed, activate)
            remove_superseded(snapshot)

    def check(self) -> CheckedBundle:
        """Check the whole bundle. Raises BundleError if it has more bad rows than are tolerated."""
        log, outcome = FaultLog(), self._outcome
        try:
            with outcome.timed("check"):
                checked = check(self._source, log, self._run.report)
        finally:
            outcome.bad_rows, outcome.faults, outcome.remarks = log.bad_rows, log.faults, log.remarks
            outcome.groups, outcome.remark_groups = log.groups.listed(), log.remark_groups.listed()
            if self._report is not None:
                log.write(self._report)
        outcome.nodes, outcome.edges = len(checked.key_of), len(checked.edges)
        if log.bad_rows > self._tolerance:
            where = f"; {self._report} lists them" if self._report else ""
            bad = "1 bad row" if log.bad_rows == 1 else f"{log.bad_rows} bad rows"
            raise BundleError(
                f"{bad}, {self._tolerance} tolerated: nothing was loaded. The first is {log.faults[0]}{where}"
            )
        if not outcome.nodes:
            names = ", ".join(table.name for table in checked.nodes)
            raise BundleError(f"{names} has no entity that could be loaded.")
        return checked

    def _begun(self) -> Snapshot | None:
        """Return the snapshot that an interrupted import of this job has begun, if its data may still be there."""
        noted = self._run.notes.get(SNAPSHOT_NOTE)
        usable = (BuildStatus.BUILDING, BuildStatus.READY)
        return Snapshot.objects.filter(pk=noted, status__in=usable).select_related("knowledge_base").first()

    def _describe(self, snapshot: Snapshot) -> None:
        """Report a snapshot that an earlier attempt has loaded."""
        outcome = self._outcome
        outcome.nodes, outcome.edges, outcome.bad_rows = snapshot.nodes, snapshot.edges, snapshot.bad_rows
        outcome.snapshot = snapshot.pk
        outcome.seconds |= snapshot.seconds

    def _load(self, checked: CheckedBundle, begun: Snapshot | None) -> Snapshot:
        """Load the bundle into a new snapshot, or into the one that was begun if it is of the same content."""
        if begun is not None and begun.content_hash != checked.content_hash:
            fail(begun)
            begun = None
        snapshot = begun or self._create(checked)
        try:
            with self._outcome.timed("load"):
                load(checked, snapshot.pk, self._run)
                partitions.with_locks(lambda: _publish(snapshot, self._outcome), self._run)
        except (OperationalError, InterfaceError, LeaseLost):
            # The next attempt continues with the snapshot, or the next import removes it. This session may be gone, and
            # with it the lock that keeps others from using the snapshot.
            raise
        except BaseException:
            fail(snapshot)
            raise
        self._outcome.snapshot = snapshot.pk
        return snapshot

    def _create(self, checked: CheckedBundle) -> Snapshot:
        outcome = self._outcome
        about = {**checked.manifest.about, "language": checked.manifest.language}
        with self._run.fenced(), transaction.atomic():
            knowledge_base = self._base(about.get("title", ""))
            snapshot = Snapshot.objects.create(
                knowledge_base=knowledge_base,
                source=str(self._source),
                content_hash=checked.content_hash,
                schema_json=checked.schema.to_json(),
                about=about,
                mapping=getattr(self._source, "mapping", None),
                nodes=outcome.nodes,
                edges=outcome.edges,
                bad_rows=outcome.bad_rows,
            )
            self._run.notes.put(SNAPSHOT_NOTE, snapshot.pk)
        return snapshot

    def _base(self, title: str) -> KnowledgeBase:
        """Return the knowledge base, made if it is new, with the visibility that the import was given."""
        wanted = self._visibility
        base, new = KnowledgeBase.objects.get_or_create(
            name=self._outcome.knowledge_base,
            defaults={"title": title} | ({"visibility": wanted} if wanted else {}),
        )
        if wanted and not new and base.visibility != wanted:
            before, base.visibility = base.visibility, wanted
            base.save(update_fields=["visibility"])
            note("visibility changed by an import", base, before=before, after=wanted)
        return base

    def _index(self, snapshot: Snapshot, embed: bool, activate: bool) -> None:
        with self._outcome.timed("index"):
            release = index_snapshot(snapshot=snapshot, run=self._run, embed=embed)
        self._outcome.release = release.name
        if activate:
            self._run.check()
            activate_once(snapshot.knowledge_base, release, self._run)


def _publish(snapshot: Snapshot, outcome: ImportReport) -> None:
    partitions.attach(snapshot.pk)
    snapshot.status, snapshot.finished, snapshot.seconds = BuildStatus.READY, timezone.now(), dict(outcome.seconds)
    snapshot.save(update_fields=["status", "finished", "seconds"])
