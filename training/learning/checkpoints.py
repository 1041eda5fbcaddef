"""Checkpoints as files: one a name, replaced whole."""

from __future__ import annotations

import os
from pathlib import Path


class FileCheckpoints:
    """Keeps checkpoints in a folder, which is made when the first one is saved (task.Checkpoints).

    Names are file names. Whoever is killed while saving leaves the former content.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, name: str, content: bytes) -> None:
        """Keep content under a name. Raises OSError when the disk does not take it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self._folder / f".{name}.new"
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(self._folder / name)

    def load(self, name: str) -> bytes | None:
        """Return what was kept under a name, None where nothing was."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
