"""What a backup holds beside the database: the files below GRASP_HOME that nothing rebuilds for free."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from search.services.backup.errors import BackupError

CHANGING = ("jobs", "uploads", "question-drafts")
"""Folders whose files may change or go while the backup runs; each file is taken as it is at that moment."""
FOLDERS = ("indexes", "artifacts", *CHANGING)
"""Folders below GRASP_HOME that a restore replaces."""
SECRET_KEY = "secrets/secret_key"
DEMO_MARK = "demo-loaded"
"""Marks that the demo bases were loaded, so that the next start does not load them again."""
PREFIX = "home/"
"""What the names of these members begin with."""
NOUNS = {
    "knowledge_bases": "knowledge base", "releases": "release", "nodes": "node", "edges": "edge", "vectors": "vector",
    "searches": "search", "jobs": "job", "artifacts": "artifact", "users": "user",
}  # fmt: skip
"""What is counted of a backup, and one of it, in the order in which people are told: a column of JSON keeps none."""
_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file: its path below GRASP_HOME, its length, and what tells whether it has changed."""

    name: str
    bytes: int
    identity: str

    @property
    def member(self) -> str:
        """The name of its member in the archive."""
        return PREFIX + self.name


def stored_files(snapshots: Collection[int], artifacts: Collection[str]) -> Iterator[StoredFile]:
    """Yield the files of these snapshots and artifacts, then those that may change, each folder in order of names."""
    for pk in sorted(snapshots):
        yield from _below(f"indexes/snapshot-{pk}")
    for name in sorted(artifacts):
        yield from _below(f"artifacts/{name}")
    for folder in CHANGING:
        yield from _below(folder)
    for name in (SECRET_KEY, DEMO_MARK):
        path = home() / name
        if path.is_file() and (name != SECRET_KEY or path.read_text(encoding="utf-8") == settings.SECRET_KEY):
            yield _described(path)


def changing(file: StoredFile) -> bool:
    """Whether the file may change or go while the backup runs."""
    return file.name.split("/", 1)[0] in CHANGING


def pieces_of(file: StoredFile) -> Iterator[bytes]:
    """Yield the file's bytes. Raises BackupError if a file that never changes is gone."""
    try:
        with (home() / file.name).open("rb") as source:
            while piece := source.read(_AT_ONCE):
                yield piece
    except FileNotFoundError as error:
        if changing(file):
            return
        raise BackupError(
            f"{file.name} was deleted or built anew while the backup ran. Make it again; it goes on where it was."
        ) from error


def counted(counts: Mapping[str, int]) -> str:
    """Return what a backup holds for people, such as `3 knowledge bases, 1,310 searches`, what weighs most first."""
    nouns = [noun for noun in (*NOUNS, *sorted(set(counts) - set(NOUNS))) if counts.get(noun)]
    return ", ".join(
        f"{counts[noun]:,} {NOUNS.get(noun, noun) if counts[noun] == 1 else noun.replace('_', ' ')}" for noun in nouns
    )


def home() -> Path:
    """Return GRASP_HOME."""
    return Path(settings.GRASP_HOME)


def _below(folder: str) -> Iterator[StoredFile]:
    """Yield the files below a folder; names that begin with a dot are unfinished and left out."""
    for place, folders, files in os.walk(home() / folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(place) / name
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield _described(path)


def _described(path: Path) -> StoredFile:
    found = path.stat()
    return StoredFile(path.relative_to(home()).as_posix(), found.st_size, f"{found.st_size}-{found.st_mtime_ns}")
