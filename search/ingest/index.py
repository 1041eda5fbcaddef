"""Index files of a snapshot; each part is built in a temporary folder and renamed, so that it is complete or absent."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from search.domain.run_context import UNOBSERVED, RunContext
from search.ingest.parts import index_files
from search.models.index_folders import STAMP


@dataclass(frozen=True, slots=True)
class IndexPart:
    """One folder of index files: the version of its format, and the function that writes it into an empty folder.

    `title` is the part's name in reports of progress; by default it is derived from the folder's name.
    """

    version: int
    write: Callable[[Path], None]
    title: str = ""


def build_parts(directory: Path, parts: Mapping[str, IndexPart], run: RunContext = UNOBSERVED) -> dict[str, float]:
    """Build, in their order, the parts that are missing or have another version; return part → seconds it took.

    A part may read the parts before it. If the process is killed, the next call continues with the unfinished part.
    """
    directory.mkdir(parents=True, exist_ok=True)
    seconds: dict[str, float] = {}
    for name, part in parts.items():
        if version_of(directory / name) == part.version:
            continue
        run.report(part.title or index_files(name), 0, None)
        began = time.perf_counter()
        _replace(directory / name, part, run)
        seconds[name] = time.perf_counter() - began
    return seconds


def version_of(folder: Path) -> int | None:
    """Return the version of a finished part, or None if the folder holds no finished part."""
    try:
        return int(json.loads((folder / STAMP).read_text())["version"])
    except FileNotFoundError:
        return None


def _replace(folder: Path, part: IndexPart, run: RunContext) -> None:
    """Write the part into a folder of its own and rename it; a process that has lost the work renames nothing."""
    for left in folder.parent.glob(f".{folder.name}.*.new"):
        shutil.rmtree(left, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".new", dir=folder.parent))
    try:
        part.write(fresh)
        (fresh / STAMP).write_text(json.dumps({"version": part.version}))
        _sync(fresh)
        with run.fenced():
            if folder.exists():
                shutil.rmtree(folder)
            fresh.rename(folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
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
