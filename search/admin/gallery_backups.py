"""States of the pages of backups for the gallery."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from search.admin.backup_shown import LABELS, STATES, BackupShown, commands
from search.admin.gallery_parts import LONG, WHEN, Page, job_of, page
from search.models import JobSchedule

_MAY = {"may_make": True, "may_download": True, "may_remove": True, "may_schedule": True}
_WRONG = {
    "failed": "The disk of /srv/grasp/backups is full. What is written is kept: the same command goes on.",
    "damaged": "partitions/search_node_4 is not what the backup wrote. Nothing was restored; use another copy of it.",
    "gone": "Its file is not where it was written any more: moved, or deleted.",
    "running": "It appears under its name when it is complete.",
}


def _backup(state: str = "done", day: int = 0, name: str = "") -> BackupShown:
    at = WHEN - timedelta(days=day)
    name = name or f"site-{at:%Y-%m-%d-%H%M%S}.grasp"
    there = state in ("done", "damaged")
    live = job_of(state, kind="backup", knowledge_base_name="") if state in ("running", "failed") else None
    return BackupShown(
        2_000_000_000 + day, name, f"/srv/grasp/backups/{name}", state, STATES.get(state, state),
        LABELS.get(state, "warning"), _WRONG.get(state, ""), at, 95.0 if there else None, "908.0 MB",
        "9 knowledge bases, 12 releases, 289,449 entities, 771,348 relations, 31,728 searches" if there else "",
        at + timedelta(minutes=2) if there else None, there,
        "It is being made now; cancel its job first." if state == "running" else "", live, True,
        "5f0e" * 16 if there else "", "1.4.0" if there else "",
    )  # fmt: skip


def _list(backups: Sequence[BackupShown] = (), folder: str = "/srv/grasp/backups") -> Callable[[], dict[str, Any]]:
    nightly = JobSchedule(pk=2_000_000_000, name="Nightly backup", enabled=True, next_run=WHEN + timedelta(hours=17))
    return lambda: {
        "backups": backups, "folder": folder, "free": "55.0 GB", "kept_bytes": "5.3 GB" if backups else "0 bytes",
        "schedules": [nightly] if backups else [], "nightly": "#", "days": 7,
    } | _MAY  # fmt: skip


def _one(state: str, name: str = "") -> Callable[[], dict[str, Any]]:
    backup = _backup(state, name=name)
    return lambda: {"backup": backup, "commands": commands(backup), "subtitle": backup.name} | _MAY


_LIST, _PAGE = "admin/search/backup/list.html", "admin/search/backup/page.html"
_STATES = ("running", "done", "failed", "damaged", "gone", "done")
BACKUPS: Mapping[str, Page] = {
    "empty": ("No backups yet", page(_LIST, _list(), "Backups")),
    "many": (
        "In every state",
        page(_LIST, _list([_backup(state, day) for day, state in enumerate(_STATES)]), "Backups"),
    ),
    "one": ("One of them, and how it is restored", page(_PAGE, _one("done"), "Backup")),
    "damaged": ("One that a check found damaged", page(_PAGE, _one("damaged"), "Backup")),
    "long-words": (
        "Words that do not fit",
        page(_LIST, _list([_backup(name=f"{LONG}.grasp")], f"/srv/{LONG}"), "Backups"),
    ),
    "one-long": ("One with a name that does not fit", page(_PAGE, _one("done", f"{LONG}.grasp"), "Backup")),
}
