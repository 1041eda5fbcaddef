"""Alerts about the machine and its data: disk, backups, index files, migrations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import F
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone

from search.models import BackupRun, Release, RetentionRun, SearchRun
from search.services.upkeep.alerts.alert import Alert
from search.services.upkeep.measure_storage import measure_disk

FREE_SOON, FREE_NOW = 0.10, 0.03
"""Free parts of the disk below which an alert is given."""
INDEX_PARTS = ("nodes", "adjacency", "mentions", "bm25")
"""Folders that the index of every snapshot has."""
RETENTION_DUE = timedelta(hours=6)
A_DAY = timedelta(days=1)


def disk_space() -> Iterator[Alert]:
    """Yield an alert if the disk of GRASP_HOME is nearly full."""
    disk = measure_disk()
    free = disk.free / disk.total if disk.total else 1.0
    if free < FREE_SOON:
        yield Alert(
            "disk", "now" if free < FREE_NOW else "soon",
            f"The disk is nearly full: {filesizeformat(disk.free)} of {filesizeformat(disk.total)} are free.",
            "Drop releases that nobody needs, delete old trained parts, or shorten GRASP_RUNS_DAYS and GRASP_JOB_DAYS.",
            link=reverse("admin:search_release_changelist"), link_text="Releases",
            command="manage.py drop_release NAME NUMBER",
        )  # fmt: skip


def backups() -> Iterator[Alert]:
    """Yield an alert if there is no backup, the last one is too old or damaged, or the newest try failed."""
    days = settings.GRASP_BACKUP_DAYS
    if not days:
        return
    whole = BackupRun.objects.complete().order_by("-finished")
    last = whole.filter(fault="").first()
    failed = BackupRun.objects.exclude(error__in=["", BackupRun.CANCELLED]).first()
    damaged = whole.first()
    page: dict[str, Any] = {
        "link": reverse("admin:search_backuprun_changelist"), "link_text": "Backups",
        "command": "manage.py backup FILE",
    }  # fmt: skip
    if damaged is not None and damaged.fault:
        yield Alert(
            "backup", "soon", f"The newest backup cannot be restored: {damaged.fault[:200]}",
            "Make another one, and look at the disk on which it lies.", **page,
        )  # fmt: skip
    if failed is not None and (last is None or failed.started > last.started):
        yield Alert(
            "backup", "soon", f"The last backup failed: {failed.error[:200]}",
            "Mend what it names, and make the backup again; it goes on where it stopped.", **page,
        )  # fmt: skip
    if last is None:
        yield Alert(
            "backup", "soon", "There is no backup of this site.",
            "Make one, and let a schedule repeat it every night. GRASP_BACKUP_DAYS=0 says that something else does it.",
            **page,
        )  # fmt: skip
    elif last.finished is not None and timezone.now() - last.finished > timedelta(days=days):
        age = (timezone.now() - last.finished).days
        yield Alert(
            "backup", "soon", f"The last backup is {age} days old; it went to {last.place}.",
            "See why the schedule does not make them any more, and make one now.", **page,
        )  # fmt: skip


def index_files() -> Iterator[Alert]:
    """Yield an alert for each active release whose files are not there, or failed a search within the last day."""
    folder = Path(settings.GRASP_HOME) / "indexes"
    active = Release.objects.select_related("knowledge_base", "snapshot", "vector_set")
    releases = list(active.filter(pk=F("knowledge_base__active_release")))
    since = timezone.now() - A_DAY
    errors = SearchRun.objects.filter(status=SearchRun.Status.FAILED, error__stage="index", created__gt=since)
    failed = set(errors.values_list("release_id", flat=True))
    for release in releases:
        # A machine without any index files gets them when it searches.
        wanted = [release.snapshot.directory / part for part in INDEX_PARTS]
        wanted += [release.vector_set.directory] if release.vector_set is not None else []
        missing = [part.name for part in wanted if not _filled(part)] if folder.is_dir() else []
        if missing or release.pk in failed:
            why = f"lack {', '.join(missing)}" if missing else "could not be read by a search of the last day"
            base = release.knowledge_base.name
            yield Alert(
                "index", "now", f"The index files of {release.name} {why}.",
                "Build them again; searches of it fail or find less until then.",
                link=reverse("admin:search_job_add"), link_text="Launch the job Index",
                command=f"manage.py index_kb {base}", knowledge_base=base,
            )  # fmt: skip


def _filled(folder: Path) -> bool:
    return folder.is_dir() and any(path.is_file() and path.stat().st_size for path in folder.rglob("*"))


def migrations() -> Iterator[Alert]:
    """Yield an alert if the code knows migrations that the database has not had."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        names = ", ".join(f"{one.app_label}.{one.name}" for one, _ in plan[:3])
        yield Alert(
            "migrations", "now", f"The database lacks {len(plan)} migrations of this code: {names}.",
            "Make a backup, then migrate. `make run` migrates at its start by itself.", command="manage.py migrate",
        )  # fmt: skip


def retention() -> Iterator[Alert]:
    """Yield an alert if the retention failed, or has not run for hours although it did before."""
    last = RetentionRun.objects.first()
    if last is None:
        return
    if last.error:
        yield Alert("retention", "soon", f"Old data could not be deleted: {last.error[:200]}", "Mend what it names.")
    elif timezone.now() - last.started > RETENTION_DUE:
        yield Alert(
            "retention", "soon", f"Old data has not been deleted since {last.started:%Y-%m-%d %H:%M} UTC.",
            "The search worker starts this, unless GRASP_BEAT is off: then a `celery beat` of your own has to.",
            link=reverse("admin:search_services"), link_text="Services, workers and queues",
        )  # fmt: skip
