"""The metrics that are measured when somebody asks: queues, jobs, releases, files, services, connections.

They describe the whole site, so that the web process alone tells them. A part that cannot be measured, because a
service does not answer, is left out; `grasp_service_up` says which service that is.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from search.models import BackupRun, Job, KnowledgeBase, Release
from search.services.code_version import code_version
from search.services.health import queue_status, system_status
from search.services.upkeep.alerts import site_alerts
from search.services.upkeep.measure_storage import measure_disk, measure_folders
from search.services.upkeep.observe_work import waiting_by_queue

FOLDER_SECONDS = 300.0
"""Seconds for which the sizes of folders are kept: a site may have thousands of files."""

log = structlog.get_logger(__name__)


class SiteState(Collector):
    """Measures the site each time that it is asked (prometheus_client's collector)."""

    def __init__(self) -> None:
        self._folders: tuple[float, list[tuple[str, int, int]]] = (-FOLDER_SECONDS, [])

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of every part that can be measured."""
        parts: tuple[Callable[[], Iterable[Metric]], ...] = (
            _about, _services, _queues, _jobs, _releases, _backups, _connections, _disk, self._files, _alerts,
        )  # fmt: skip
        for part in parts:
            try:
                yield from list(part())
            except (DatabaseError, OSError) as error:
                connection.close()
                log.warning("not measured", part=part.__name__.strip("_"), reason=str(error))

    def _files(self) -> Iterator[Metric]:
        now = time.monotonic()
        if now - self._folders[0] >= FOLDER_SECONDS:
            self._folders = now, [(one.title, one.number or 0, one.bytes) for one in measure_folders()]
        number = _gauge("grasp_files", "Files of a folder of GRASP_HOME.", "folder")
        size = _gauge("grasp_file_bytes", "Bytes of the files of a folder of GRASP_HOME.", "folder")
        for title, files, size_of in self._folders[1]:
            number.add_metric([title], files)
            size.add_metric([title], size_of)
        yield from (number, size)


def _gauge(name: str, about: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, about, labels=labels)


def _value(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, about, value=value)


def _about() -> Iterator[Metric]:
    about = _gauge("grasp_info", "The version of the code; the value is always 1.", "version")
    about.add_metric([code_version()], 1)
    yield about


def _services() -> Iterator[Metric]:
    up = _gauge("grasp_service_up", "1 if a service that searches use answers.", "service")
    for service in system_status():
        up.add_metric([service["name"]], service["state"] == "ready")
    yield up


def _queues() -> Iterator[Metric]:
    length = _gauge("grasp_queue_length", "Searches or jobs that wait.", "queue")
    oldest = _gauge("grasp_queue_oldest_seconds", "Age of the oldest that waits; 0 if nothing waits.", "queue")
    workers = _gauge("grasp_workers", "Workers of a queue that have reported within the last seconds.", "queue")
    now = timezone.now()
    waiting = waiting_by_queue()
    for queue in queue_status():
        workers.add_metric([queue["name"]], len(queue["workers"]))
    for name in dict.fromkeys([*settings.GRASP_WARM_UP, *waiting]):
        one = waiting.get(name)
        length.add_metric([name], one.number if one else 0)
        oldest.add_metric([name], (now - one.oldest).total_seconds() if one and one.oldest else 0)
    yield from (length, oldest, workers)


def _jobs() -> Iterator[Metric]:
    jobs = _gauge("grasp_jobs", "Jobs that are kept, by kind and state.", "kind", "state")
    for kind, state, number in Job.objects.values_list("kind", "state").annotate(Count("pk")).order_by():
        jobs.add_metric([kind, state], number)
    yield jobs


def _releases() -> Iterator[Metric]:
    releases = _gauge("grasp_releases", "Releases of all knowledge bases, by status.", "status")
    for status, number in Release.objects.values_list("status").annotate(Count("pk")).order_by():
        releases.add_metric([status], number)
    yield releases
    active = KnowledgeBase.objects.exclude(active_release=None).count()
    yield _value("grasp_active_releases", "Knowledge bases that can be searched.", active)


def _backups() -> Iterator[Metric]:
    last = BackupRun.objects.filter(error="").exclude(finished=None).order_by("-finished").first()
    if last is not None and last.finished is not None:
        age = (timezone.now() - last.finished).total_seconds()
        yield _value("grasp_backup_age_seconds", "Seconds since the last backup ended.", age)
        yield _value("grasp_backup_bytes", "Bytes of the last backup.", last.bytes)


def _connections() -> Iterator[Metric]:
    found = _gauge("grasp_postgres_connections", "Connections to the database, by state.", "state")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(state, 'background'), count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() GROUP BY 1"
        )
        for state, number in cursor.fetchall():
            found.add_metric([state], number)
    yield found
    yield from pool_metrics()


def pool_metrics() -> Iterator[Metric]:
    """Yield the pool of connections of this process, if it has one."""
    if not settings.DATABASE_POOL:
        return
    measured = connection.pool.get_stats()  # type: ignore[attr-defined]
    pool = _gauge("grasp_database_pool", "The pool of connections of the process that is asked.", "part")
    for part in ("pool_size", "pool_available", "pool_max", "requests_waiting", "requests_queued", "requests_errors"):
        pool.add_metric([part.removeprefix("pool_")], measured.get(part, 0))
    yield pool


def _disk() -> Iterator[Metric]:
    disk = measure_disk()
    yield _value("grasp_disk_free_bytes", "Free bytes of the disk of GRASP_HOME.", disk.free)
    yield _value("grasp_disk_bytes", "All bytes of the disk of GRASP_HOME.", disk.total)


def _alerts() -> Iterator[Metric]:
    alerts = _gauge("grasp_alerts", "What the admin's first page asks an operator to do.", "about", "level")
    for (about, level), number in Counter((alert.about, alert.level) for alert in site_alerts()).items():
        alerts.add_metric([about, level], number)
    yield alerts
