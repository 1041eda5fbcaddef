"""index_store: sends what was built to the object store, and removes there what was dropped."""

from __future__ import annotations

import structlog
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from search.adapters.index_files import keep
from search.adapters.index_files.listing import fault_of
from search.adapters.index_files.source import BuiltFile
from search.adapters.index_files.store import OWNER, StoreFailed, configured_store, object_name
from search.artifact_files import MANIFEST, check_folder, listed_files
from search.domain.run_context import RunContext
from search.ingest.parts import SEND
from search.models import Artifact, IndexFolder, Release, Snapshot
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
    folders = _folders(snapshot.releases.filter(status=BuildStatus.READY))
    try:
        for folder in folders:
            if fault := fault_of(folder.directory, keep.files_of(folder), deep=again):
                raise StoreFailed(f"{folder.place} is damaged here ({fault})")
        there = {} if again else store.lengths(f"indexes/snapshot-{snapshot.pk}")
        missing = [
            (folder.directory / file.name.removeprefix(f"{folder.place}/"), file)
            for folder in folders
            for file in _files(folder)
            if there.get(object_name(file)) != file.length
        ]
        done, total = 0, sum(file.length for _, file in missing)
        for path, file in missing:
            run.report(SEND, done, total)
            store.send(path, file)
            done += file.length
    except StoreFailed as error:
        raise StoreFailed(
            f"The index files of {snapshot} were not all sent: {error}. "
            f"`manage.py index_kb {snapshot.knowledge_base.name}` or the job Index goes on from there."
        ) from error
    if missing:
        log.info("index files sent", snapshot=snapshot.pk, files=len(missing), bytes=total)
    return len(missing)


def send_new(artifact: Artifact) -> None:
    """Send a trained part; a failure is logged, and `check_indexes --send` sends it later."""
    try:
        send_artifact(artifact)
    except StoreFailed as error:
        log.warning("trained part not sent", artifact=artifact.pk, reason=str(error))


def send_artifact(artifact: Artifact) -> int:
    """Send the files of a trained part; return their number. Raises StoreFailed, RefusedArtifact if it is damaged."""
    store = configured_store()
    if store is None:
        return 0
    check_folder(artifact.directory, artifact.content_hash)
    place = f"artifacts/{artifact.pk}"
    manifest = (artifact.directory / MANIFEST).read_bytes()
    files = {MANIFEST: (len(manifest), artifact.content_hash), **listed_files(manifest)}
    for name, (length, digest) in files.items():
        store.send(artifact.directory / name, BuiltFile(f"{place}/{name}", length, digest))
    return len(files)


def send_again() -> int:
    """Send all index files and trained parts of this machine, whatever the store has; return the number of files.

    Each is compared with what was built before. Raises StoreFailed with a sentence for people.
    """
    ready = Snapshot.objects.filter(releases__status=BuildStatus.READY).distinct()
    sent = sum(send_snapshot(snapshot=snapshot, again=True) for snapshot in ready.select_related("knowledge_base"))
    artifacts = [artifact for artifact in Artifact.objects.exclude(content_hash="") if artifact.directory.is_dir()]
    return sent + sum(map(send_artifact, artifacts))


def delete_dropped() -> int:
    """Remove the objects that belong to no release that is ready and to no artifact; return how many.

    If the store cannot be used, that is logged, and the next call removes them. Nothing is removed from a folder that
    another site has begun to use.
    """
    store = configured_store()
    if store is None:
        return 0
    try:
        mark = salted_hmac(OWNER, "index store").hexdigest()
        if store.owner(mark) != mark:
            log.warning("index store of another site: nothing removed", store=str(store))
            return 0
        # In this order: an object is sent after the rows that name it were written.
        there = [*store.lengths("indexes"), *store.lengths("artifacts")]
        ready = _folders(Release.objects.filter(status=BuildStatus.READY))
        files = {object_name(file) for folder in ready for file in _files(folder)}
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


def _folders(releases: QuerySet[Release]) -> list[IndexFolder]:
    """Return the folders of index files of releases, each once."""
    found: dict[int, IndexFolder] = {}
    for release in releases.select_related("snapshot", "knowledge_base"):
        found |= {folder.pk: folder for folder in keep.folders_of(release)}
    return list(found.values())


def _files(folder: IndexFolder) -> list[BuiltFile]:
    return [
        BuiltFile(f"{folder.place}/{path}", length, digest) for path, (length, digest) in keep.files_of(folder).items()
    ]
