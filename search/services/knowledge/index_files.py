"""index_files: a worker keeps the files of the active releases right; other machines fetch them from here."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import F

from search import wiring
from search.adapters.index_files import keep
from search.adapters.index_files.fetch import FetchRuns, fetch_folder
from search.adapters.index_files.listing import fault_of
from search.adapters.index_files.source import PIECE, BuiltFile, FetchFailed, FileSource
from search.adapters.index_files.store import configured_source
from search.artifact_files import HASHED_BY, MANIFEST, RefusedArtifact, content_hash, fault_of_name, listed_files
from search.domain.errors import StageError
from search.ingest.cleanup import drop_ownerless_folders
from search.ingest.locks import backup_runs
from search.models import Artifact, IndexFolder, Release
from search.models.knowledge import BuildStatus

LOOK_SECONDS = 5.0
"""Seconds between two looks of a worker at its files. Only files that have changed are read."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CheckedRelease:
    """A release with the bytes of its index files, and what is wrong with them on this machine (empty: nothing)."""

    release: str
    active: bool
    bytes: int
    fault: str


def keep_looking() -> None:
    """Look every `LOOK_SECONDS` seconds, in a thread."""
    threading.Thread(target=_keep_looking, name="index-files", daemon=True).start()


def look() -> None:
    """Check the files of the active releases, fetch those with a fault and missing artifacts, delete dropped ones.

    If something was wrong, open releases are closed: no search is answered from files that are not what was built.
    """
    wrong = False
    for release in Release.objects.filter(pk=F("knowledge_base__active_release")).select_related(
        "snapshot", "knowledge_base"
    ):
        try:
            _, found = keep.put_right(release)
        except StageError:
            # Another process of this home fetches them.
            continue
        wrong = wrong or found
    if wrong:
        wiring.forget_releases()
    source = configured_source()
    if source is not None:
        _fetch_artifacts(source)
        if not backup_runs():
            drop_ownerless_folders()


def check_releases(*, deep: bool = True, fetch: bool = False) -> Iterator[CheckedRelease]:
    """Yield every release that is ready with what is wrong with its files here; with `fetch` try to put them right."""
    ready = Release.objects.filter(status=BuildStatus.READY).select_related("snapshot", "knowledge_base")
    for release in ready.order_by("knowledge_base__name", "number"):
        folders = keep.folders_of(release)
        if fetch:
            try:
                fault, _ = keep.put_right(release, deep=deep)
            except StageError as error:
                fault = error.reason
        else:
            found = ((folder.name, fault_of(folder.directory, keep.files_of(folder), deep=deep)) for folder in folders)
            fault = next((f"{name}: {fault}" for name, fault in found if fault), "")
        active = release.knowledge_base.active_release_id == release.pk
        yield CheckedRelease(release.name, active, sum(folder.bytes for folder in folders), fault)


def servable(name: str) -> Path | None:
    """Return the file that other machines may fetch under this name, or None: index files and files of artifacts."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or len(path.parts) < 3:
        return None
    file = Path(settings.GRASP_HOME) / path
    first, owner, *rest = path.parts
    if first == "artifacts":
        known = not fault_of_name("/".join(rest)) and Artifact.objects.filter(pk=owner).exists()
    else:
        known = first == "indexes" and len(rest) > 1 and _listed(owner, rest[0], "/".join(rest[1:]))
    return file if known and file.is_file() else None


def _listed(owner: str, folder: str, file: str) -> bool:
    snapshot = owner.removeprefix("snapshot-")
    if not snapshot.isdecimal():
        return False
    return IndexFolder.objects.filter(snapshot_id=int(snapshot), name=folder, files__has_key=file).exists()


def _fetch_artifacts(source: FileSource) -> None:
    """Fetch the artifacts that this machine lacks; a failure is logged, and a search that needs one says so."""
    for artifact in Artifact.objects.exclude(content_hash=""):
        if not artifact.directory.is_dir():
            try:
                _fetch_artifact(artifact, source)
            except (FetchFailed, RefusedArtifact, FetchRuns) as error:
                log.warning("trained part not fetched", artifact=artifact.pk, reason=str(error))


def _fetch_artifact(artifact: Artifact, source: FileSource) -> None:
    """Fetch one artifact: its list of files has the content hash of its row, and its files those of the list."""
    name = f"artifacts/{artifact.pk}"
    # Its length is in no list; it is shorter than a piece.
    manifest = source.piece(BuiltFile(f"{name}/{MANIFEST}", PIECE, artifact.content_hash), 0)
    if content_hash(manifest) != artifact.content_hash:
        raise FetchFailed(f"{name}/{MANIFEST} of {source} is not what was registered")
    files = {MANIFEST: (len(manifest), artifact.content_hash), **listed_files(manifest)}
    for one in files:
        if fault := fault_of_name(one):
            raise RefusedArtifact(fault)
    fetch_folder(artifact.directory, name, files, source, hashed=HASHED_BY)


def _keep_looking() -> None:
    pause = threading.Event()
    while not pause.wait(LOOK_SECONDS):
        try:
            look()
        except (DatabaseError, OSError) as error:
            log.warning("index files not checked", reason=str(error))
        finally:
            connection.close()
