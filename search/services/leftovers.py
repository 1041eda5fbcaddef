"""Deletes old files and folders that belong to nothing any more, in a folder of GRASP_HOME."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.utils import timezone


def delete_leftovers(folder: Path, days: float, kept: Callable[[Collection[str]], Collection[str]]) -> int:
    """Delete the entries of a folder that have not changed for `days` days, and return their number.

    `kept` gets the names of the old entries and returns those that stay.
    """
    before = timezone.now().timestamp() - days * 86_400
    old = {entry.name: entry for entry in entries(folder) if changed(entry) < before}
    gone = old.keys() - set(kept(old.keys()) if old else ())
    for name in gone:
        remove(old[name])
    return len(gone)


def leftover_days() -> int:
    """Return the age in days from which folders without a row are deleted.

    A younger folder may belong to a row that is not committed yet.
    """
    return int(settings.GRASP_LEFTOVER_DAYS)


def ids(names: Collection[str]) -> list[UUID]:
    """Return the ids among the names of folders; a name that is no id is left out."""
    found = []
    for name in names:
        with suppress(ValueError):
            found.append(UUID(name))
    return found


def entries(folder: Path) -> list[Path]:
    """Return the entries of a folder; none if there is no such folder."""
    return list(folder.iterdir()) if folder.is_dir() else []


def changed(path: Path) -> float:
    """Return when a path was last changed, in seconds since 1970; infinity if it has been deleted meanwhile."""
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return float("inf")


def remove(path: Path) -> None:
    """Delete a file, or a folder with its content; what cannot be deleted stays until the next time."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
