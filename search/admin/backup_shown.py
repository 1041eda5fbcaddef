"""Backups as their pages show them: state in a sentence, size, content, and the commands that restore one."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.urls import reverse

from search.models import BackupRun, Job, JobSchedule
from search.services.backup.contents import counted
from search.services.backup.kept import backup_folder, file_of, job_of, left_bytes, refusal, state_of

LABELS = {"done": "success", "running": "info", "failed": "danger", "damaged": "danger"}
STATES = {"done": "complete", "gone": "file is gone", "running": "being made"}
SHOWN = 200
"""Newest backups that the page lists."""
NIGHTLY = {"kind": "backup", "name": "Nightly backup", "cron": "30 2 * * *", "arguments": '{"keep": 7}'}
_MANAGE = ".venv/bin/python manage.py"


@dataclass(frozen=True, slots=True)
class BackupShown:
    """One backup. `there` says whether its file can be read, `kept` why it cannot be removed now."""

    pk: int
    name: str
    place: str
    state: str
    state_name: str
    label: str
    sentence: str
    at: datetime
    seconds: float | None
    size: str
    inside: str
    checked: datetime | None
    there: bool
    kept: str
    job: Job | None
    key_inside: bool
    fingerprint: str
    code_version: str


def shown(backup: BackupRun) -> BackupShown:
    """Return a backup as the pages show it."""
    state = state_of(backup)
    path = Path(backup.place)
    took = (backup.finished - backup.started).total_seconds() if backup.finished else 0.0
    size = backup.bytes or left_bytes(backup)
    return BackupShown(
        backup.pk, path.name, backup.place, state, STATES.get(state, state), LABELS.get(state, "warning"),
        _sentence(backup, state), backup.started, took or None, filesizeformat(size) if size else "–",
        counted(backup.counts), backup.checked, file_of(backup) is not None, refusal(backup), job_of(backup),
        backup.key_inside, backup.fingerprint, backup.code_version,
    )  # fmt: skip


def _sentence(backup: BackupRun, state: str) -> str:
    if state == "failed":
        return backup.error
    if state == "damaged":
        return backup.fault
    return {
        "done": "" if backup.checked else "It has not been checked yet.",
        "gone": "Its file is not where it was written any more: moved, or deleted.",
        "cancelled": "It was cancelled. Its job can be resumed, and goes on where it was.",
        "interrupted": "Its process ended before it was complete. Made again under the same name, it goes on.",
        "running": "It appears under its name when it is complete.",
    }[state]


def list_page() -> dict[str, Any]:
    """Return the context of the list: the backups, where they go, and what makes them by itself."""
    folder = backup_folder()
    present = next((place for place in (folder, *folder.parents) if place.is_dir()), Path("/"))
    schedules = JobSchedule.objects.filter(kind="backup").order_by("next_run")
    backups = [shown(one) for one in BackupRun.objects.all()[:SHOWN]]
    return {
        "backups": backups, "folder": folder, "free": filesizeformat(shutil.disk_usage(present).free),
        "kept_bytes": filesizeformat(sum(one.bytes for one in BackupRun.objects.all() if file_of(one))),
        "schedules": schedules, "nightly": f"{reverse('admin:search_jobschedule_add')}?{urlencode(NIGHTLY)}",
        "days": settings.GRASP_BACKUP_DAYS,
    }  # fmt: skip


def commands(backup: BackupShown) -> Sequence[tuple[str, str]]:
    """Return the commands that restore a backup, each with what it is for."""
    file, home = shlex.quote(backup.place), shlex.quote(str(settings.GRASP_HOME))
    sure = f" --fingerprint {backup.fingerprint}" if backup.fingerprint else ""
    restore = f"{_MANAGE} restore {file}{sure}"
    return (
        ("Into an empty place, to see whether it works: this site is not touched.",
         f"GRASP_HOME=/tmp/drill {restore}"),
        ("In the place of this site: stop it first. Everything that it holds now is replaced.",
         f"GRASP_HOME={home} {restore} --force"),
    )  # fmt: skip
