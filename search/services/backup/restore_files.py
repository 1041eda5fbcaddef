"""Writes the files of a backup into a folder of their own below GRASP_HOME, and puts them in place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from search.services.backup.archive import ArchiveReader, Member
from search.services.backup.contents import DEMO_MARK, FOLDERS, PREFIX, SECRET_KEY, home
from search.services.backup.errors import BackupError

STAGED, REPLACED = ".restore-", ".replaced-"
"""What the names of the folders begin with in which files are prepared, and former ones are kept during the switch."""
SWITCHING = "SWITCHING"
"""Name of the file in the folder of prepared files that says that the switch has begun."""


def staging(fingerprint: str) -> Path:
    """Return the folder in which the files of this backup are prepared."""
    return home() / f"{STAGED}{fingerprint[:16]}"


def replaced(fingerprint: str) -> Path:
    """Return the folder that keeps the former files during the switch."""
    return home() / f"{REPLACED}{fingerprint[:16]}"


def file_members(reader: ArchiveReader) -> list[Member]:
    """Return the members that are files. Raises BackupError for a name that leads out of the folders of a backup."""
    found = [member for member in reader.members if member.name.startswith(PREFIX)]
    for member in found:
        path = PurePosixPath(member.name.removeprefix(PREFIX))
        ours = path.parts and (path.parts[0] in FOLDERS or str(path) in (SECRET_KEY, DEMO_MARK))
        if path.is_absolute() or ".." in path.parts or not ours:
            raise BackupError(f"The backup holds a file {str(path)[:200]!r}, which belongs to no folder of a site.")
    return found


def unpack_files(reader: ArchiveReader, told: Callable[[int], None]) -> None:
    """Write the files into the staging folder; those that an earlier attempt has finished stay."""
    folder = staging(reader.fingerprint)
    for left in home().glob(f"{STAGED}*"):
        if left != folder:
            shutil.rmtree(left)
    for member in file_members(reader):
        target = folder / member.name.removeprefix(PREFIX)
        if not (target.is_file() and target.stat().st_size == member.unpacked):
            _unpack(reader, member, target)
        told(member.unpacked)
    for place, _, _ in os.walk(folder):
        _sync_folder(place)


def _unpack(reader: ArchiveReader, member: Member, target: Path) -> None:
    secret = target.parent.name == "secrets"
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = target.with_name(f".{target.name}.part")
    with unfinished.open("wb") as file:
        if secret:
            os.fchmod(file.fileno(), 0o600)
        for piece in reader.unpacked(member):
            file.write(piece)
        # The files are on the disk before anything points to them; other programs' files do not matter here.
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(target)


def _sync_folder(place: str) -> None:
    opened = os.open(place, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def exchange(fingerprint: str) -> None:
    """Move the site's folders away and the prepared ones in; `undo` moves them back."""
    new, old = staging(fingerprint), replaced(fingerprint)
    new.mkdir(exist_ok=True)
    old.mkdir(exist_ok=True)
    (new / SWITCHING).touch()
    for name in (*FOLDERS, SECRET_KEY):
        there = home() / name
        if there.exists() and not (old / name).exists() and ((new / name).exists() or name != SECRET_KEY):
            (old / name).parent.mkdir(exist_ok=True, mode=0o700)
            there.rename(old / name)
        if (new / name).exists():
            there.parent.mkdir(exist_ok=True, mode=0o700)
            (new / name).rename(there)
    (home() / DEMO_MARK).touch()


def undo(fingerprint: str) -> None:
    """Put the former folders back."""
    new, old = staging(fingerprint), replaced(fingerprint)
    for name in (*FOLDERS, SECRET_KEY):
        there = home() / name
        if not (old / name).exists() and name == SECRET_KEY:
            continue
        if there.exists():
            (new / name).parent.mkdir(exist_ok=True)
            there.rename(new / name)
        if (old / name).exists():
            (old / name).rename(there)
    (new / SWITCHING).unlink(missing_ok=True)


def clean(fingerprint: str) -> None:
    """Delete the former files and what is left of the preparation."""
    for folder in (replaced(fingerprint), staging(fingerprint)):
        shutil.rmtree(folder, ignore_errors=True)


def switching(fingerprint: str) -> bool:
    """Whether a switch to this backup has begun and not been finished."""
    return (staging(fingerprint) / SWITCHING).exists()


def occupied() -> list[str]:
    """Return the folders of this home that hold something."""
    return [name for name in FOLDERS if (home() / name).is_dir() and any((home() / name).iterdir())]
