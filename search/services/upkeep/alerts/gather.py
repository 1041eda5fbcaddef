"""site_alerts: everything that an operator must do now; the functions of `settings.GRASP_ALERTS` look for it."""

from __future__ import annotations

import threading
import time

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils.module_loading import import_string

from search.services.upkeep.alerts.alert import Alert

KEPT_SECONDS = 10.0
"""Seconds for which the alerts are kept, because every reload of the admin's first page asks for them."""

log = structlog.get_logger(__name__)
_kept: dict[tuple[str, ...], tuple[float, list[Alert]]] = {}
_lock = threading.Lock()


def site_alerts() -> list[Alert]:
    """Return the alerts, urgent ones first; empty if there is nothing to do."""
    paths = tuple(settings.GRASP_ALERTS)
    with _lock:
        at, found = _kept.get(paths, (-KEPT_SECONDS, []))
        if time.monotonic() - at >= KEPT_SECONDS:
            found = sorted((alert for path in paths for alert in _looked(path)), key=lambda alert: alert.level)
            _kept[paths] = time.monotonic(), found
        return found


def forget_alerts() -> None:
    """Look again at the next call."""
    with _lock:
        _kept.clear()


def _looked(path: str) -> list[Alert]:
    """Return what one function finds. If it cannot look, that is an alert too."""
    try:
        with transaction.atomic():
            return list(import_string(path)())
    except (DatabaseError, OSError) as error:
        if not connection.in_atomic_block:
            connection.close()
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        log.warning("alert not looked for", check=path, reason=reason)
        what = path.rpartition(".")[2].replace("_", " ")
        return [
            Alert("checks", "now", f"Nobody knows about {what}: {reason}", "See whether Postgres and the disk work.")
        ]
