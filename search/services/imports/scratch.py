"""Folders for what an import needs on the disk while it runs."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

FOLDER = "imports"
"""Folder of all scratch folders below GRASP_HOME."""
OLD_SECONDS = 3 * 24 * 3600
"""Age from which on a scratch folder was left by a process that was killed."""


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """Make a folder, yield it, and remove it with its content whatever happens."""
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def delete_old_scratch() -> None:
    """Delete the scratch folders that killed processes have left."""
    folder = Path(settings.GRASP_HOME) / FOLDER
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.stat().st_mtime < time.time() - OLD_SECONDS:
            shutil.rmtree(entry, ignore_errors=True)
