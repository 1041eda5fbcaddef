"""The file of a backup: a tar archive whose members are packed with zstd, except the first and the last.

The first member says what the file is, the last one is the manifest: it lists every other member with its length and
SHA-256, so a file that was cut off has no manifest. While a backup is made the file is called `NAME.partial`, and
beside it `NAME.partial.json` lists the members that are safely on the disk: the next call goes on behind them.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import zstandard

from search.services.backup.errors import BackupError, DamagedBackup

FORMAT = 1
"""Version of the format; a file of a greater one is refused."""
GREETING, MANIFEST = "grasp-search-backup.txt", "manifest.json"
GREETING_TEXT = b"A backup of GRASP search; `manage.py restore FILE` restores it. manifest.json lists what is inside.\n"
LEVEL = 3
"""Level of zstd: higher ones take several times as long for a few percent."""
LARGE = 16 * 1024**2
"""Members from this size on are packed by two threads."""
SAFE_EVERY = 64 * 1024**2
"""Bytes that are written at most before the disk is asked to keep them."""
_BLOCK = tarfile.BLOCKSIZE
MOST_MANIFEST = 512 * 1024**2


@dataclass(frozen=True, slots=True)
class Member:
    """One member: its name, what it was made of (`identity`), where its bytes are, their hash, and the unpacked length.

    A member of the same name and identity need not be written again.
    """

    name: str
    identity: str
    offset: int
    bytes: int
    unpacked: int
    sha256: str


class Writer:
    """Writes a backup; a context manager, which leaves the partial file where it is unless `finish` was called.

    Raises BackupError if another process writes the same backup.
    """

    def __init__(self, path: Path, origin: str) -> None:
        self._path = path
        self.partial, self._journal_path = partial_files(path)
        self._origin = origin
        self.members: list[Member] = []
        self._unsafe: list[Member] = []
        self._unsafe_bytes = 0
        self._usual = zstandard.ZstdCompressor(level=LEVEL)
        self._threaded = zstandard.ZstdCompressor(level=LEVEL, threads=2)

    def __enter__(self) -> Self:
        handle = os.open(self.partial, os.O_RDWR | os.O_CREAT, 0o600)
        os.fchmod(handle, 0o600)
        self._file = os.fdopen(handle, "r+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise BackupError(f"Another process is writing {self._path}; wait until it has ended.") from error
        self._former = self._read_journal()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def begin(self, wanted: Mapping[str, str]) -> int:
        """Keep the members of an earlier attempt that still are as `wanted` (name → identity); return their number.

        The kept ones are the first of the file, up to the first one that is not wanted; the rest is cut off.
        """
        kept: list[Member] = []
        for member in self._former:
            if wanted.get(member.name) != member.identity:
                break
            kept.append(member)
        self.members = kept.copy()
        end = kept[-1].offset + _padded(kept[-1].bytes) if kept else 0
        self._file.truncate(end)
        self._file.seek(end)
        self._journal = self._journal_path.open("w", encoding="utf-8")
        os.fchmod(self._journal.fileno(), 0o600)
        self._journal.write(json.dumps({"format": FORMAT, "origin": self._origin}) + "\n")
        self._note(kept)
        if not kept:
            self._plain(GREETING, GREETING_TEXT)
            return 0
        return len(kept)

    @property
    def names(self) -> set[str]:
        """The names of the members that are written."""
        return {member.name for member in self.members}

    def add(
        self, name: str, identity: str, pieces: Iterable[bytes | bytearray | memoryview], expected: int = 0
    ) -> Member:
        """Pack and write the pieces as a member; `expected` is about how many bytes they have."""
        header = self._file.tell()
        place = header + len(_header(name, 0))
        self._file.seek(place)
        digest, stored, unpacked = hashlib.sha256(), 0, 0
        packer = (self._threaded if expected >= LARGE else self._usual).compressobj()

        def put(packed: bytes) -> None:
            nonlocal stored
            digest.update(packed)
            stored += self._file.write(packed)

        for piece in pieces:
            unpacked += len(piece)
            if packed := packer.compress(piece):
                put(packed)
        put(packer.flush())
        member = Member(name, identity, place, stored, unpacked, digest.hexdigest())
        self._close(header, member)
        return member

    def finish(self, manifest: Mapping[str, Any]) -> str:
        """Write the manifest with the list of members, and give the file its name; return the manifest's SHA-256."""
        listed = [asdict(member) for member in self.members if member.name != GREETING]
        content = json.dumps({**manifest, "format": FORMAT, "members": listed}, indent=1, ensure_ascii=False).encode()
        self._plain(MANIFEST, content)
        self._file.write(bytes(2 * _BLOCK))
        self._file.truncate()
        self._file.flush()
        os.fsync(self._file.fileno())
        self.partial.rename(self._path)
        self._journal.close()
        self._journal_path.unlink()
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return hashlib.sha256(content).hexdigest()

    def _plain(self, name: str, content: bytes) -> None:
        header = self._file.tell()
        place = header + len(_header(name, 0))
        self._file.seek(place)
        self._file.write(content)
        digest = hashlib.sha256(content).hexdigest()
        self._close(header, Member(name, "", place, len(content), len(content), digest))

    def _close(self, header: int, member: Member) -> None:
        """Write the header in front of a member's bytes, and note the member once it is safe."""
        end = member.offset + _padded(member.bytes)
        self._file.write(bytes(end - member.offset - member.bytes))
        self._file.seek(header)
        self._file.write(_header(member.name, member.bytes))
        self._file.seek(end)
        self.members.append(member)
        self._unsafe.append(member)
        self._unsafe_bytes += member.bytes
        if self._unsafe_bytes >= SAFE_EVERY:
            self.save()

    def save(self) -> None:
        """Have the disk keep what is written, and note it for the next attempt."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._note(self._unsafe)
        self._unsafe, self._unsafe_bytes = [], 0

    def _note(self, members: Iterable[Member]) -> None:
        for member in members:
            self._journal.write(json.dumps(asdict(member)) + "\n")
        self._journal.flush()
        os.fsync(self._journal.fileno())

    def _read_journal(self) -> list[Member]:
        """Return the members that an earlier attempt has written safely, if it was one of this site."""
        try:
            first, *lines = self._journal_path.read_text(encoding="utf-8").splitlines()
            if json.loads(first) != {"format": FORMAT, "origin": self._origin}:
                return []
        except (OSError, ValueError):
            return []
        members = []
        for line in lines:
            try:
                member = Member(**json.loads(line))
            except (ValueError, TypeError):
                # The line was being written when the process ended.
                break
            members.append(member)
        length = self._file.seek(0, os.SEEK_END)
        return [member for member in members if member.offset + _padded(member.bytes) <= length]


def partial_files(path: Path) -> tuple[Path, Path]:
    """Return the files of a backup that is not complete: what is written of it, and the list of its safe members."""
    return path.with_name(f"{path.name}.partial"), path.with_name(f"{path.name}.partial.json")


def being_written(path: Path) -> bool:
    """Whether a process writes this backup now."""
    try:
        with partial_files(path)[0].open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


class ArchiveReader:
    """Reads a backup; a context manager. `manifest` is read first.

    Raises BackupError with a sentence if the file is no backup, was cut off, is damaged, or has a newer format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        try:
            self._file = self.path.open("rb")
        except OSError as error:
            raise BackupError(f"{self.path} cannot be read: {error.strerror}.") from error
        try:
            self.manifest, self.fingerprint = self._read_manifest()
            self.members = [Member(**member) for member in self.manifest["members"]]
        except BackupError:
            self._file.close()
            raise
        except (TypeError, KeyError) as error:
            self._file.close()
            raise self._damaged(MANIFEST) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def unpacked(self, member: Member) -> Iterator[bytes]:
        """Yield the content of a member in pieces; raise BackupError at its end if it is not what was written.

        The caller must not make the content final before the last piece has come.
        """
        digest, left, given = hashlib.sha256(), member.bytes, 0
        unpacker = zstandard.ZstdDecompressor().decompressobj()
        self._file.seek(member.offset)
        try:
            while left and (packed := self._file.read(min(left, 2**20))):
                left -= len(packed)
                digest.update(packed)
                if piece := unpacker.decompress(packed):
                    given += len(piece)
                    if given > member.unpacked:
                        raise self._damaged(member.name)
                    yield piece
        except (zstandard.ZstdError, OSError) as error:
            raise self._damaged(member.name) from error
        if left or given != member.unpacked or digest.hexdigest() != member.sha256:
            raise self._damaged(member.name)

    def check(self, told: Callable[[int], None]) -> None:
        """Compare every member with its hash; `told` gets the bytes done. Raises BackupError for one that differs."""
        done = 0
        for member in self.members:
            for _ in self.unpacked(member):
                told(done + self._file.tell() - member.offset)
            done += member.bytes
            told(done)

    def _read_manifest(self) -> tuple[dict[str, Any], str]:
        try:
            with tarfile.open(fileobj=self._file, mode="r:") as tar:
                first = tar.next()
                if first is None or first.name != GREETING:
                    raise BackupError(f"{self.path} is no backup of GRASP search; `manage.py backup FILE` makes one.")
                last = first
                while (following := tar.next()) is not None:
                    last = following
                if last.name != MANIFEST:
                    raise self._cut_off()
                if last.size > MOST_MANIFEST:
                    raise self._damaged(MANIFEST)
                self._file.seek(last.offset_data)
                content = self._file.read(last.size)
        except tarfile.ReadError as error:
            greeted = self._greeted()
            if greeted and "unexpected end" in str(error):
                raise self._cut_off() from error
            if greeted:
                raise self._damaged("the order of its members") from error
            raise BackupError(
                f"{self.path} is no backup of GRASP search; `manage.py backup FILE` makes one."
            ) from error
        if len(content) != last.size:
            raise self._cut_off()
        return self._parsed(content), hashlib.sha256(content).hexdigest()

    def _parsed(self, content: bytes) -> dict[str, Any]:
        try:
            manifest = json.loads(content)
            version = int(manifest["format"])
        except (ValueError, TypeError, KeyError) as error:
            raise self._damaged(MANIFEST) from error
        if version > FORMAT:
            made_by = str(manifest.get("code_version", ""))[:60]
            raise BackupError(
                f"{self.path} was made by a newer version of GRASP search ({made_by}), in format {version}; this "
                f"one reads format {FORMAT}. Restore it with that version."
            )
        return manifest

    def _greeted(self) -> bool:
        self._file.seek(0)
        return self._file.read(len(GREETING)) == GREETING.encode()

    def _cut_off(self) -> BackupError:
        return BackupError(
            f"{self.path} was cut off: its end is missing. Copy it again from where it was made, or use another one."
        )

    def _damaged(self, what: str) -> DamagedBackup:
        return DamagedBackup(
            f"{self.path} is damaged or was changed: {what} is not what the backup wrote. Nothing was restored; use "
            "another copy of it."
        )


def _padded(length: int) -> int:
    return -(-length // _BLOCK) * _BLOCK


def _header(name: str, length: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = length, 0o600, _NOW
    return info.tobuf(tarfile.GNU_FORMAT)


_NOW = int(time.time())
