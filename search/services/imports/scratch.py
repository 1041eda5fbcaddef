"""Folders for what an import needs on the disk while it runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from search.services.leftovers import delete_leftovers, leftover_days

FOLDER = "imports"
"""Folder of all scratch folders below GRASP_HOME."""


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """Make a folder, yield it, and remove it with its content whatever happens."""
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def delete_old_scratch() -> int:
    """Delete the scratch folders that killed processes have left, and return their number."""
    return delete_leftovers(Path(settings.GRASP_HOME) / FOLDER, leftover_days(), lambda _: ())
