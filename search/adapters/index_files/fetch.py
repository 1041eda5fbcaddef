"""Fetches a folder: every file into a folder beside it, compared with its hash, and then renamed as a whole.

So a folder is there with all its files as they were built, or it is not there. Files arrive in pieces, several at a
time. An interrupted fetch keeps the pieces that have arrived; of two processes of one home the second waits for the
first.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from search.adapters.index_files import source as places
from search.adapters.index_files.listing import Files, Hashed, fault_of, hash_of, note_checked
from search.adapters.index_files.source import BuiltFile, FetchFailed, FileSource

LOOK_SECONDS = 0.05
"""Seconds between two looks whether another fetch has ended."""
AT_ONCE = 8
"""Pieces that are asked for at the same time; this bounds the memory of a fetch."""
BUILDING = ".building"
"""Name of the file that is locked while the folders beside it are built."""


class FetchRuns(Exception):
    """Another thread or process is fetching or building the same folder now."""


@dataclass(frozen=True, slots=True)
class _Missing:
    """A file to be fetched, with the path where it belongs, and the path of what has arrived of it."""

    file: BuiltFile
    path: Path
    part: Path

    def begins(self) -> Iterator[int]:
        """Yield where each piece begins that is still missing."""
        arrived = self.part.stat().st_size if self.part.exists() else 0
        yield from range(arrived, self.file.length, places.PIECE)


def fetch_folder(
    folder: Path,
    name: str,
    files: Files,
    source: FileSource,
    told: Callable[[int], None] = lambda number: None,
    wait: float = 0.0,
    hashed: Hashed = hashlib.sha256,
) -> None:
    """Fetch the folder that is called `name` below GRASP_HOME; `told` gets the bytes of each file that has arrived.

    If another thread or process is fetching it, its end is awaited for `wait` seconds. Raises FetchFailed if a file is
    not there, is not what was built, or does not fit on the disk, and FetchRuns if the other one has not ended.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent / BUILDING, wait, fcntl.LOCK_SH), locked(_beside(folder, "lock"), wait):
        if not fault_of(folder, files, hashed=hashed):
            return
        fresh = _beside(folder, "fetched")
        try:
            _fetch_files(fresh, name, files, source, told, hashed)
        except OSError as error:
            full = "the disk is full" if error.errno == errno.ENOSPC else str(error.strerror)
            raise FetchFailed(f"it cannot be written below {folder.parent}: {full}") from error
        for extra in fresh.rglob("*"):
            if extra.is_file() and extra.relative_to(fresh).as_posix() not in files:
                extra.unlink()
        if folder.exists():
            # A process that has mapped the old files can still read its mappings.
            old = _beside(folder, "old")
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
            fresh.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        else:
            fresh.rename(folder)
        note_checked(folder, files)


@contextmanager
def locked(
    path: Path, wait: float = 0.0, kind: int = fcntl.LOCK_EX, passed: Callable[[Path], bool] = lambda path: False
) -> Iterator[None]:
    """Hold the lock of a file; raise FetchRuns if another process has not given it back after `wait` seconds.

    If `passed` says so of the file, another process' lock is not waited for.
    """
    until = time.monotonic() + wait
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, kind | fcntl.LOCK_NB)
                break
            except OSError as error:
                if passed(path):
                    break
                if time.monotonic() >= until:
                    raise FetchRuns from error
            time.sleep(LOOK_SECONDS)
        yield


def building(home: Path, wait: float) -> AbstractContextManager[None]:
    """Hold the lock of a builder; raise FetchRuns if a fetch has not ended after `wait` seconds.

    A builder that was overtaken may hold it still, asleep. It keeps fetches out as long, so it is not waited for: the
    import's own lock keeps it from writing.
    """
    return locked(home / BUILDING, wait, passed=_is_built)


def _is_built(path: Path) -> bool:
    """Whether a builder holds the lock: fetches share it with one another, a builder with nobody."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _fetch_files(
    fresh: Path, name: str, files: Files, source: FileSource, told: Callable[[int], None], hashed: Hashed
) -> None:
    missing = []
    for path, (length, digest) in sorted(files.items()):
        target = fresh / path
        if target.is_file() and target.stat().st_size == length and hash_of(target, hashed) == digest:
            told(length)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        # The hash in the name: what has arrived of another content is not continued.
        part = target.with_name(f".{target.name}.{digest[:16]}.part")
        missing.append(_Missing(BuiltFile(f"{name}/{path}", length, digest), target, part))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        wanted = chain.from_iterable(((one.file, begin) for begin in one.begins()) for one in missing)
        pieces = _ahead(pool, source, wanted)
        for one in missing:
            _write(one, [*one.begins()], pieces)
            if one.part.stat().st_size != one.file.length or hash_of(one.part, hashed) != one.file.digest:
                one.part.unlink()
                raise FetchFailed(f"{one.file.name} of {source} is not what was built")
            one.part.rename(one.path)
            told(one.file.length)


def _write(missing: _Missing, begins: list[int], pieces: Iterator[bytes]) -> None:
    """Append the pieces of one file to what has arrived of it."""
    with missing.part.open("ab") as file:
        for _ in begins:
            file.write(next(pieces))
            # What has arrived is there after a kill, too.
            file.flush()
        os.fsync(file.fileno())


def _ahead(pool: ThreadPoolExecutor, source: FileSource, wanted: Iterable[tuple[BuiltFile, int]]) -> Iterator[bytes]:
    """Yield pieces in order; `AT_ONCE` of them are on their way."""
    asked: deque[Future[bytes]] = deque()
    for file, begin in wanted:
        if len(asked) == AT_ONCE:
            yield asked.popleft().result()
        asked.append(pool.submit(source.piece, file, begin))
    while asked:
        yield asked.popleft().result()


def _beside(folder: Path, ending: str) -> Path:
    return folder.with_name(f".{folder.name}.{ending}")
