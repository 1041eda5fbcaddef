"""index_store: sends what was built to the object store, and removes there what was dropped."""

from __future__ import annotations

from pathlib import Path

import structlog
from django.db.models import QuerySet

from search.adapters.index_files import keep
from search.adapters.index_files.source import BuiltFile
from search.adapters.index_files.store import StoreFailed, configured_store, object_name
from search.artifact_files import MANIFEST, listed_files
from search.domain.run_context import RunContext
from search.ingest.parts import SEND
from search.models import Artifact, Release, Snapshot
from search.models.knowledge import BuildStatus
from search.services.jobs.run_context import plain_run

log = structlog.get_logger(__name__)


def send_snapshot(*, snapshot: Snapshot, run: RunContext | None = None, again: bool = False) -> int:
    """Send the index files of a snapshot's releases that the store lacks; return how many files were sent.

    With `again` all are sent, whatever is there. Without a store nothing happens. If the process dies, the next call
    goes on behind the files that have arrived. Raises StoreFailed with a sentence for people.
    """
    store = configured_store()
    if store is None:
        return 0
    run = run or plain_run()
    files = _files(snapshot.releases.filter(status=BuildStatus.READY))
    try:
        there = {} if again else store.lengths(f"indexes/snapshot-{snapshot.pk}")
        missing = [pair for name, pair in files.items() if there.get(name) != pair[1].length]
        done, total = 0, sum(file.length for _, file in missing)
        for path, file in missing:
            run.report(SEND, done, total)
            run.check()
            store.send(path, file)
            done += file.length
    except StoreFailed as error:
        raise StoreFailed(
            f"The index files are built, but they were not all sent: {error}. Index again to go on from there."
        ) from error
    if missing:
        log.info("index files sent", snapshot=snapshot.pk, files=len(missing), bytes=total)
    return len(missing)


def send_artifact(artifact: Artifact) -> None:
    """Send the files of a trained part; a failure is logged, and `check_indexes --send` sends them later."""
    store = configured_store()
    if store is None or not artifact.content_hash:
        return
    place = f"artifacts/{artifact.pk}"
    manifest = (artifact.directory / MANIFEST).read_bytes()
    files = {MANIFEST: (len(manifest), artifact.content_hash), **listed_files(manifest)}
    try:
        for name, (length, digest) in files.items():
            store.send(artifact.directory / name, BuiltFile(f"{place}/{name}", length, digest))
    except StoreFailed as error:
        log.warning("trained part not sent", artifact=artifact.pk, reason=str(error))


def delete_dropped() -> int:
    """Remove the objects that belong to no release that is ready and to no artifact; return how many.

    If the store cannot be used, that is logged, and the next call removes them.
    """
    store = configured_store()
    if store is None:
        return 0
    try:
        # In this order: an object is sent after the rows that name it were written.
        there = [*store.lengths("indexes"), *store.lengths("artifacts")]
        files = _files(Release.objects.filter(status=BuildStatus.READY))
        artifacts = {str(artifact) for artifact in Artifact.objects.values_list("pk", flat=True)}
        gone = [name for name in there if name not in files and not _of_artifact(name, artifacts)]
        if gone:
            store.remove(gone)
    except StoreFailed as error:
        log.warning("dropped files left in the index store", reason=str(error))
        return 0
    return len(gone)


def _of_artifact(name: str, artifacts: set[str]) -> bool:
    first, owner, *_ = name.split("/")
    return first == "artifacts" and owner in artifacts


def _files(releases: QuerySet[Release]) -> dict[str, tuple[Path, BuiltFile]]:
    """Return object name → (path on this machine, file) of all index files of releases."""
    found = {}
    for release in releases.select_related("snapshot", "knowledge_base"):
        for folder in keep.folders_of(release):
            for path, (length, digest) in keep.files_of(folder).items():
                file = BuiltFile(f"{folder.place}/{path}", length, digest)
                found[object_name(file)] = (folder.directory / path, file)
    return found
