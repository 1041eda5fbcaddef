"""measure_storage: the numbers of rows and bytes that the site stores."""

from __future__ import annotations

import os
import shutil
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
FOLDERS = (
    ("Index files", "indexes"), ("Trained parts", "artifacts"), ("Checkpoints of jobs", "jobs"), ("Uploads", "uploads"),
    ("Logs", "logs"),
)  # fmt: skip
MOST_COUNTED_FILES = 20_000
"""Files that are looked at in one folder; of a folder with more, only these are counted."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One kind of thing that is kept: its title, how many there are (rows or files), and their bytes.

    With `at_least` there are more than were counted.
    """

    title: str
    number: int | None
    bytes: int
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Disk:
    """The disk of GRASP_HOME: its free bytes and all of its bytes."""

    free: int
    total: int

    @property
    def percent_used(self) -> int:
        """Percent that is not free."""
        return round(100 * (1 - self.free / self.total)) if self.total else 0


def measure_disk() -> Disk:
    """Return how much of the disk of GRASP_HOME is free."""
    usage = shutil.disk_usage(settings.GRASP_HOME)
    return Disk(usage.free, usage.total)


def measure_storage() -> list[Stored]:
    """Return the whole database, tables with rows and bytes (indexes included), then folders with files and bytes.

    Rows are those that Postgres estimates, where it has an estimate: to count millions takes seconds.
    """
    tables = [Stored(title, _rows(model), _table_bytes(model)) for title, model in TABLES]
    return [Stored("Postgres, all of it", None, _database_bytes()), *tables, *measure_folders()]


def measure_folders() -> list[Stored]:
    """Return the files and bytes of the folders of GRASP_HOME."""
    return [Stored(title, *_files(Path(settings.GRASP_HOME) / name)) for title, name in FOLDERS]


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


def _database_bytes() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return cursor.fetchone()[0]


def _files(folder: Path) -> tuple[int, int, bool]:
    """Return the number of files below a folder, their bytes, and whether there are more files than were counted.

    A file that goes away meanwhile does not count.
    """
    number = size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            if number == MOST_COUNTED_FILES:
                return number, size, True
            try:
                size += (Path(parent) / name).stat().st_size
            except OSError:
                continue
            number += 1
    return number, size, False
