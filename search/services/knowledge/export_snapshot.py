"""export_snapshot: writes the active release's snapshot as a bundle."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.db import ProgrammingError
from psycopg.errors import UndefinedTable

from search.domain.run_context import UNOBSERVED, RunContext
from search.ingest.export import export_bundle
from search.models import KnowledgeBase, Snapshot
from search.services.knowledge.releases import DESCRIBED_BY_BUNDLE


class ExportFailed(Exception):
    """No bundle was written; the text is a sentence for people."""


def export_snapshot(*, knowledge_base: KnowledgeBase, folder: Path, run: RunContext = UNOBSERVED) -> Snapshot:
    """Write the active release's snapshot into `folder`, which is created, and return the snapshot.

    The bundle is written into a temporary folder and renamed when it is complete. Raises ExportFailed if the folder is
    not empty, no release is active, or the disk fails.
    """
    if knowledge_base.active_release is None:
        raise ExportFailed(f"'{knowledge_base.name}' has no active release to export.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExportFailed(f"{folder} exists and is not empty.")
    snapshot = knowledge_base.active_release.snapshot
    unfinished = folder.absolute().with_name(f".{folder.absolute().name}.unfinished")
    about = {attribute: getattr(knowledge_base, attribute) for attribute in DESCRIBED_BY_BUNDLE}
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        export_bundle(unfinished, snapshot, knowledge_base.name, about, run.report)
        unfinished.replace(folder.absolute())
    except OSError as error:
        raise ExportFailed(f"{folder} could not be written: {error}.") from error
    except ProgrammingError as error:
        if isinstance(error.__cause__, UndefinedTable):
            raise ExportFailed(f"{knowledge_base.active_release} was dropped meanwhile.") from error
        raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return snapshot
