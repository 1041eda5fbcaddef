"""Keeps the index files of releases right on this machine: checks them before a release is opened, and fetches them."""

from __future__ import annotations

import math
import shutil
import socket
import time

import structlog
from django.db import transaction

from search.adapters.index_files import faults
from search.adapters.index_files.fetch import FetchRuns, fetch_folder
from search.adapters.index_files.listing import fault_of, fingerprint, listed, note_checked
from search.adapters.index_files.source import FetchFailed
from search.adapters.index_files.store import configured_source
from search.domain.errors import StageError
from search.models import IndexFolder, Release, Snapshot
from search.models.index_folders import STAMP
from search.models.timeouts import present_limit

STAGE = "index"
PAUSE_SECONDS = 15.0
"""A fetch that has failed is not tried again for this long; searches meanwhile get the same answer at once."""
ANSWER_SECONDS = 5.0
"""Seconds that a search keeps for its answer when it waits for files that others are fetching."""
OF_ONE = ("vectors-", "similar-")
"""What the names of folders begin with that belong to one vector set or release of a snapshot."""

log = structlog.get_logger(__name__)


def require(release: Release) -> None:
    """Return when this machine has every index file of the release as it was built; fetch those that it lacks.

    A search waits for files that are being fetched, by itself or by others. Raises StageError with a sentence if they
    are not there then; it is temporary if another process is still fetching.
    """
    known = faults.noted(release.name)
    if known is not None and time.monotonic() - known.at < PAUSE_SECONDS:
        raise StageError(STAGE, known.reason, permanent=True)
    reason, _ = put_right(release)
    if reason:
        raise StageError(STAGE, reason, permanent=True)


def put_right(release: Release, *, deep: bool = False) -> tuple[str, bool]:
    """Check the folders of a release, and fetch those with a fault.

    Return a sentence if it still has one, else an empty string, and whether there was any. Raises a temporary
    StageError while another process is fetching.
    """
    reason, found = "", False
    for folder in folders_of(release):
        fault = fault_of(folder.directory, files_of(folder), deep=deep)
        found = found or bool(fault)
        if fault and (failure := _fetched(folder)):
            reason = (
                f"The index files of {release.name} on {socket.gethostname()} are damaged or missing "
                f"({folder.place}: {fault}), and {failure}. `manage.py index_kb {release.knowledge_base.name}` or the "
                "job Index builds them."
            )
            break
    if faults.note(release.name, reason) and reason:
        log.error("index files damaged", release=release.name, reason=reason)
    return reason, found


def folders_of(release: Release) -> list[IndexFolder]:
    """Return the lists of the folders that a release is made of.

    A snapshot that was indexed before there were lists gets them now, from the files of this machine.
    """
    snapshot = release.snapshot
    found = list(IndexFolder.objects.filter(snapshot=snapshot).select_related("snapshot"))
    if not found and snapshot.directory.is_dir():
        found = record(snapshot)
    own = {f"vectors-{release.vector_set_id}", f"similar-{release.pk}"}
    return [folder for folder in found if folder.name in own or not folder.name.startswith(OF_ONE)]


def record(snapshot: Snapshot, built: frozenset[str] = frozenset()) -> list[IndexFolder]:
    """Write the lists of the finished folders of this machine that have none, or that were `built` now; return all."""
    there = {folder.name: folder for folder in snapshot.index_folders.all()}
    for path in sorted(snapshot.directory.glob("[!.]*")):
        finished = (path / STAMP).exists() or path.name.startswith("similar-")
        if not path.is_dir() or not finished or (path.name in there and path.name not in built):
            continue
        files = listed(path)
        row = {"files": files, "fingerprint": fingerprint(files), "host": socket.gethostname()[:255]}
        with transaction.atomic():
            there[path.name], _ = IndexFolder.objects.update_or_create(snapshot=snapshot, name=path.name, defaults=row)
        note_checked(path, files)
    return list(there.values())


def files_of(folder: IndexFolder) -> dict[str, tuple[int, str]]:
    """Return the list of a folder's files."""
    return {name: (int(length), str(digest)) for name, (length, digest) in folder.files.items()}


def _fetched(folder: IndexFolder) -> str:
    """Fetch a folder, and return a part of a sentence if that is not possible."""
    source = configured_source()
    if source is None:
        return "neither GRASP_FILES_FROM nor GRASP_INDEX_STORE names a place to fetch them from"
    began = time.perf_counter()
    try:
        fetch_folder(folder.directory, folder.place, files_of(folder), source, wait=_patience())
    except FetchRuns:
        reason = f"the index files of {folder} are being fetched or built; ask again in a moment"
        raise StageError(STAGE, reason, permanent=False) from None
    except FetchFailed as error:
        return str(error)
    seconds = round(time.perf_counter() - began, 2)
    log.warning("index files fetched", folder=str(folder), bytes=folder.bytes, seconds=seconds)
    return ""


def _patience() -> float:
    """Return how long to wait for another fetch of the same folder: a search waits while it has time to answer."""
    left = present_limit().remaining()
    return 0.0 if math.isinf(left) else max(0.0, left - ANSWER_SECONDS)


def mend(snapshot: Snapshot) -> None:
    """Before index files are built: fetch folders that are damaged or missing here, else remove the damaged ones.

    What is removed is built again. Similarity edges are left, because they are not built with the others.
    """
    for folder in IndexFolder.objects.filter(snapshot=snapshot).select_related("snapshot"):
        if not fault_of(folder.directory, files_of(folder), deep=True):
            continue
        if _fetched(folder) and not folder.name.startswith("similar-"):
            shutil.rmtree(folder.directory, ignore_errors=True)
