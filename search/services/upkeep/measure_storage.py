"""measure_storage: the numbers of rows and bytes that the site stores."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models import Model

from search.models import Job, JobLog, JobMetric, LanguageModelCall, SearchRun, SearchStep

TABLES: tuple[tuple[str, type[Model]], ...] = (
    ("Jobs", Job),
    ("Lines of jobs", JobLog),
    ("Metrics of jobs", JobMetric),
    ("Searches", SearchRun),
    ("Steps of searches", SearchStep),
    ("Calls of language models", LanguageModelCall),
)
FOLDERS = (("Index files", "indexes"), ("Artifacts", "artifacts"), ("Logs", "logs"))


@dataclass(frozen=True, slots=True)
class Stored:
    """One kind of thing that is kept: its title, how many there are (rows or files), and their bytes."""

    title: str
    number: int
    bytes: int


def measure_storage() -> list[Stored]:
    """Return tables with rows and bytes (indexes included), then folders of `GRASP_HOME` with files and bytes.

    Rows are those that Postgres estimates, where it has an estimate: to count millions takes seconds.
    """
    tables = [Stored(title, _rows(model), _table_bytes(model)) for title, model in TABLES]
    folders = [Stored(title, *_files(Path(settings.GRASP_HOME) / name)) for title, name in FOLDERS]
    return [*tables, *folders]


MOST_COUNTED_ROWS = 100_000
"""Rows of a table are counted if Postgres estimates at most this number of rows."""


def _rows(model: type[Model]) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass", [model._meta.db_table])
        [estimate] = cursor.fetchone()
    return estimate if estimate > MOST_COUNTED_ROWS else model._default_manager.count()


def _table_bytes(model: type[Model]) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_total_relation_size(%s::regclass)", [model._meta.db_table])
        return cursor.fetchone()[0]


def _files(folder: Path) -> tuple[int, int]:
    """Return the number of files below a folder and their bytes; a file that goes away meanwhile does not count."""
    number = size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                size += (Path(parent) / name).stat().st_size
            except OSError:
                continue
            number += 1
    return number, size
