"""Checkpoints as files: one file for each name, replaced atomically."""

from __future__ import annotations

import os
from pathlib import Path


class FileCheckpoints:
    """Keeps checkpoints in a folder, which is made when the first one is saved (task.Checkpoints).

    Names are file names. If the process is killed while it saves, the former content remains.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, name: str, content: bytes) -> None:
        """Store content under a name. Raises OSError when the file cannot be written."""
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self._folder / f".{name}.new"
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(self._folder / name)

    def load(self, name: str) -> bytes | None:
        """Return the content stored under a name, or None when there is none."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
