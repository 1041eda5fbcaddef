"""import_snapshot: imports a bundle as a snapshot, indexes it as a release, and activates the release."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.db import DatabaseError, OperationalError, connection
from django.utils import timezone
from psycopg.errors import DiskFull

from search.ingest import partitions
from search.ingest.cleanup import fail, remove_dead, remove_superseded
from search.ingest.faults import BundleError, FaultLog, RowFault
from search.ingest.load import load
from search.ingest.locks import import_lock
from search.ingest.manifest import BASE_NAME, NAME_RULE
from search.ingest.progress import Progress, silent
from search.ingest.source import Source, manifest_of
from search.ingest.validate import CheckedBundle, check
from search.models import KnowledgeBase, Snapshot
from search.models.knowledge import BuildStatus
from search.services.knowledge.index_snapshot import IndexFailed, index_snapshot
from search.services.knowledge.releases import activate_release

FAULTS_SHOWN = 20


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

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object with the first faults and remarks."""
        return {
            "knowledge_base": self.knowledge_base,
            "snapshot": self.snapshot,
            "release": self.release,
            "nodes": self.nodes,
            "edges": self.edges,
            "bad_rows": self.bad_rows,
            "seconds": {part: round(seconds, 3) for part, seconds in self.seconds.items()},
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
    activate: bool = True,
    progress: Progress = silent,
) -> ImportReport:
    """Import `source`, or the bundle in the folder `source`, as the knowledge base `name`, or as the one that it names.

    If there are more than `tolerance` bad rows, nothing is loaded; otherwise the bad rows are left out. `report` is the
    file for all faults. With `dry_run` the bundle is only checked, without `index` no release is made, and without
    `activate` the release is not activated. Raises ImportFailed. In every case the previous release stays active until
    the new one is ready.
    """
    outcome = ImportReport(name or source.name)
    try:
        outcome.knowledge_base = name or manifest_of(source).name
        if not BASE_NAME.fullmatch(outcome.knowledge_base):
            raise BundleError(f"'{outcome.knowledge_base}' is not a valid name for a knowledge base: {NAME_RULE}.")
        with outcome.timed("total"):
            if dry_run:
                _check(source, tolerance, report, progress, outcome)
            else:
                _import(source, tolerance, report, index, activate, progress, outcome)
    except BundleError as error:
        outcome.faults = outcome.faults or list(error.faults)
        raise ImportFailed(str(error), outcome) from error
    except IndexFailed as error:
        raise ImportFailed(str(error), outcome) from error
    except OperationalError as error:
        if isinstance(error.__cause__, DiskFull):
            raise ImportFailed("The disk of Postgres is full; the active release was left alone.", outcome) from error
        raise ImportFailed(f"Postgres failed during the import: {error}", outcome) from error
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise ImportFailed(f"The import failed: {error}", outcome) from error
        raise ImportFailed("The disk is full; the active release was left alone.", outcome) from error
    return outcome


def _import(
    source: Path | Source,
    tolerance: int,
    report: Path | None,
    index: bool,
    activate: bool,
    progress: Progress,
    outcome: ImportReport,
) -> None:
    with import_lock(outcome.knowledge_base) as free:
        if not free:
            raise BundleError(f"Another import of '{outcome.knowledge_base}' is running; wait until it has ended.")
        remove_dead()
        checked = _check(source, tolerance, report, progress, outcome)
        snapshot = _load(checked, source, progress, outcome)
        if index:
            with outcome.timed("index"):
                release = index_snapshot(snapshot=snapshot, progress=progress)
            outcome.release = release.name
            if activate:
                activate_release(knowledge_base=snapshot.knowledge_base, release=release)
        remove_superseded(snapshot)


def _check(
    source: Path | Source, tolerance: int, report: Path | None, progress: Progress, outcome: ImportReport
) -> CheckedBundle:
    log = FaultLog()
    try:
        with outcome.timed("check"):
            checked = check(source, log, progress)
    finally:
        outcome.bad_rows, outcome.faults, outcome.remarks = log.bad_rows, log.faults, log.remarks
        if report is not None:
            log.write(report)
    outcome.nodes, outcome.edges = len(checked.key_of), len(checked.edges)
    if log.bad_rows > tolerance:
        where = f"; {report} lists them" if report else ""
        raise BundleError(
            f"{log.bad_rows} bad rows, {tolerance} tolerated: nothing was loaded. The first is {log.faults[0]}{where}"
        )
    if not outcome.nodes:
        names = ", ".join(table.name for table in checked.nodes)
        raise BundleError(f"{names} has no node that could be loaded.")
    return checked


def _load(checked: CheckedBundle, source: Path | Source, progress: Progress, outcome: ImportReport) -> Snapshot:
    about = {**checked.manifest.about, "language": checked.manifest.language}
    knowledge_base, _ = KnowledgeBase.objects.get_or_create(
        name=outcome.knowledge_base, defaults={"title": about.get("title", "")}
    )
    snapshot = Snapshot.objects.create(
        knowledge_base=knowledge_base,
        source=str(source),
        content_hash=checked.content_hash,
        schema_json=checked.schema.to_json(),
        about=about,
        nodes=outcome.nodes,
        edges=outcome.edges,
        bad_rows=outcome.bad_rows,
    )
    try:
        with outcome.timed("load"):
            load(checked, snapshot.pk, progress)
            partitions.with_locks(lambda: _publish(snapshot, outcome))
    except BaseException:
        # If Postgres itself is unavailable, the next import cleans up.
        with suppress(DatabaseError):
            connection.close_if_unusable_or_obsolete()
            fail(snapshot)
        raise
    outcome.snapshot = snapshot.pk
    return snapshot


def _publish(snapshot: Snapshot, outcome: ImportReport) -> None:
    partitions.attach(snapshot.pk)
    snapshot.status, snapshot.finished, snapshot.seconds = BuildStatus.READY, timezone.now(), dict(outcome.seconds)
    snapshot.save(update_fields=["status", "finished", "seconds"])
