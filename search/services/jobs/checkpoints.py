"""Checkpoints as files: one file for each name, replaced atomically."""

from __future__ import annotations

import os
from pathlib import Path


class FileCheckpoints:
    """Keeps checkpoints in a folder, which is made when the first one is saved (run_context.Checkpoints).

    Names are file names. If the process is killed while it saves, the former content remains.

    Each owner of a job has a folder of its own inside the job's, named by its fence. It reads what it saved itself,
    else what the latest owner before it saved. So a delayed old owner cannot replace a newer checkpoint.
    """

    def __init__(self, folder: Path, fence: int = 0) -> None:
        self._folder = folder
        self._fence = fence

    def save(self, name: str, content: bytes) -> None:
        """Store content under a name. Raises OSError when the file cannot be written."""
        own = self._folder / str(self._fence)
        own.mkdir(parents=True, exist_ok=True)
        fresh = own / f".{name}.new"
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(own / name)

    def load(self, name: str) -> bytes | None:
        """Return the content stored under a name, or None when there is none."""
        for fence in sorted(self._fences(), reverse=True):
            try:
                return (self._folder / str(fence) / name).read_bytes()
            except FileNotFoundError:
                continue
        return None

    def _fences(self) -> list[int]:
        """Return the fences of the owners up to this one that have saved something."""
        if not self._folder.is_dir():
            return []
        every = (int(entry.name) for entry in self._folder.iterdir() if entry.name.isdecimal())
        return [fence for fence in every if fence <= self._fence]
