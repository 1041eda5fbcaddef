"""Index files of a snapshot; each part is built in a temporary folder and renamed, so that it is complete or absent."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from search.ingest.progress import Progress, silent

STAMP = "part.json"
"""Name of the file that marks a part as finished and holds the version of its format."""


@dataclass(frozen=True, slots=True)
class IndexPart:
    """One folder of index files: the version of its format, and the function that writes it into an empty folder."""

    version: int
    write: Callable[[Path], None]


def build_parts(directory: Path, parts: Mapping[str, IndexPart], progress: Progress = silent) -> dict[str, float]:
    """Build, in their order, the parts that are missing or have another version; return part → seconds it took.

    A part may read the parts before it. If the process is killed, the next call continues with the unfinished part.
    """
    directory.mkdir(parents=True, exist_ok=True)
    seconds: dict[str, float] = {}
    for name, part in parts.items():
        if version_of(directory / name) == part.version:
            continue
        progress(f"Index files: {name}", 0, None)
        began = time.perf_counter()
        _replace(directory / name, part)
        seconds[name] = time.perf_counter() - began
    return seconds


def version_of(folder: Path) -> int | None:
    """Return the version of a finished part, or None if the folder holds no finished part."""
    try:
        return int(json.loads((folder / STAMP).read_text())["version"])
    except FileNotFoundError:
        return None


def _replace(folder: Path, part: IndexPart) -> None:
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    part.write(fresh)
    (fresh / STAMP).write_text(json.dumps({"version": part.version}))
    _sync(fresh)
    if folder.exists():
        shutil.rmtree(folder)
    fresh.rename(folder)
    _sync_folder(folder.parent)


def _sync(folder: Path) -> None:
    """Flush every file to disk, before the rename marks the part as complete."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
