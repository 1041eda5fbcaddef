"""Fetches a folder: every file into a folder beside it, compared with its hash, and then renamed as a whole.

So a folder is there with all its files as they were built, or it is not there. An interrupted fetch keeps the files
that have arrived; of two processes of one home the second waits for the first.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from search.adapters.index_files.listing import Files, fault_of, hash_of, note_checked
from search.adapters.index_files.source import FetchFailed, Source

LOOK_SECONDS = 0.05
"""Seconds between two looks whether another fetch has ended."""


class FetchRuns(Exception):
    """Another thread or process is fetching the same folder now."""


def fetch_folder(
    folder: Path,
    name: str,
    files: Files,
    source: Source,
    told: Callable[[int], None] = lambda number: None,
    wait: float = 0.0,
) -> None:
    """Fetch the folder that is called `name` below GRASP_HOME; `told` gets the bytes of each file that has arrived.

    If another thread or process is fetching it, its end is awaited for `wait` seconds. Raises FetchFailed if a file is
    not there, is not what was built, or does not fit on the disk, and FetchRuns if the other one has not ended.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(folder, wait):
        if not fault_of(folder, files):
            return
        fresh = folder.with_name(f".{folder.name}.fetched")
        try:
            for path, (length, digest) in sorted(files.items()):
                _fetch_file(fresh / path, f"{name}/{path}", length, digest, source)
                told(length)
        except OSError as error:
            full = "the disk is full" if error.errno == errno.ENOSPC else str(error.strerror)
            raise FetchFailed(f"it cannot be written below {folder.parent}: {full}") from error
        for extra in fresh.rglob("*"):
            if extra.is_file() and extra.relative_to(fresh).as_posix() not in files:
                extra.unlink()
        if folder.exists():
            # A process that has mapped the old files can still read its mappings.
            old = folder.with_name(f".{folder.name}.old")
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
            fresh.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        else:
            fresh.rename(folder)
        note_checked(folder, files)


def _fetch_file(path: Path, name: str, length: int, digest: str, source: Source) -> None:
    if path.is_file() and path.stat().st_size == length and hash_of(path) == digest:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    found, arrived = hashlib.sha256(), 0
    unfinished = path.with_name(f".{path.name}.part")
    with unfinished.open("wb") as file:
        for piece in source.pieces(name):
            found.update(piece)
            arrived += file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    if arrived != length or found.hexdigest() != digest:
        unfinished.unlink()
        raise FetchFailed(f"{name} of {source} is not what was built")
    unfinished.rename(path)


@contextmanager
def _alone(folder: Path, wait: float) -> Iterator[None]:
    until = time.monotonic() + wait
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() >= until:
                    raise FetchRuns from error
            time.sleep(LOOK_SECONDS)
        yield
