"""The list of the files of a folder, with lengths and SHA-256, and what of it a folder on this machine lacks.

Hashing hundreds of megabytes takes seconds, so a folder that was compared is noted beside it (`.NAME.checked`) with the
lengths and times of its files. As long as those are the same it is not read again. A file that was cut off, replaced or
written to has another length or time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

Files = Mapping[str, tuple[int, str]]
"""Path within the folder → (length in bytes, hash)."""


class Hash(Protocol):
    """A hash of hashlib."""

    def update(self, content: bytes, /) -> None:
        """Add bytes."""

    def hexdigest(self) -> str:
        """Return the hash of all bytes."""


Hashed = Callable[[], Hash]
"""Makes an empty hash: `hashlib.sha256`, which index files have, or that of another list."""
_AT_ONCE = 2**20


def hash_of(path: Path, hashed: Hashed = hashlib.sha256) -> str:
    """Return the hash of a file."""
    found = hashed()
    with path.open("rb") as file:
        while piece := file.read(_AT_ONCE):
            found.update(piece)
    return found.hexdigest()


def listed(folder: Path) -> dict[str, tuple[int, str]]:
    """Return the list of a folder's files; those whose names begin with a dot are left out."""
    return {name: (path.stat().st_size, hash_of(path)) for name, path in _paths(folder).items()}


def fingerprint(files: Mapping[str, Any]) -> str:
    """Return the SHA-256 over a list of files."""
    lines = (f"{name}\0{length}\0{digest}\n" for name, (length, digest) in sorted(files.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def fault_of(folder: Path, files: Files, *, deep: bool = False, hashed: Hashed = hashlib.sha256) -> str:
    """Return what is wrong with a folder that must hold these files, or an empty string.

    With `deep` every file is read, otherwise only those that have changed since they were last compared.
    """
    if not folder.is_dir():
        return "missing"
    paths = _paths(folder)
    if absent := sorted(files.keys() - paths.keys()):
        return f"{absent[0]} is missing"
    known = {} if deep else _checked(folder, fingerprint(files))
    marks = {}
    for name, (length, digest) in sorted(files.items()):
        found = paths[name].stat()
        marks[name] = [found.st_size, found.st_mtime_ns]
        if found.st_size != length:
            return f"{name} has {found.st_size:,} bytes instead of {length:,}"
        if known.get(name) != marks[name] and hash_of(paths[name], hashed) != digest:
            return f"{name} is not what was built"
    if known != marks:
        note_checked(folder, files, marks)
    return ""


def note_checked(folder: Path, files: Files, marks: Mapping[str, list[int]] | None = None) -> None:
    """Note that a folder holds exactly these files; a folder that may not be written is compared again each time."""
    if marks is None:
        marks = {name: [path.stat().st_size, path.stat().st_mtime_ns] for name, path in _paths(folder).items()}
    note = _note(folder)
    unfinished = note.with_name(f"{note.name}.{os.getpid()}")
    try:
        unfinished.write_text(json.dumps({"fingerprint": fingerprint(files), "files": marks}))
        unfinished.rename(note)
    except OSError:
        unfinished.unlink(missing_ok=True)


def _checked(folder: Path, expected: str) -> dict[str, list[int]]:
    """Return path → [length, time] of the last comparison with the same list; empty if there was none."""
    try:
        found = json.loads(_note(folder).read_text())
        return dict(found["files"]) if found["fingerprint"] == expected else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _note(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.checked")


def _paths(folder: Path) -> dict[str, Path]:
    return {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }
