"""The site's Celery app. Workers find it by `celery --app grasp_site`; the settings import it for all senders."""

import os
from functools import cache
from typing import Any

import structlog
from celery import Celery
from celery.beat import EmbeddedService, Scheduler
from celery.signals import celeryd_after_setup, setup_logging, worker_ready, worker_shutting_down
from django.conf import settings
from django.utils.module_loading import import_string

from grasp_site.broker import use_for_broker
from grasp_site.heartbeat import Heartbeat
from grasp_site.metrics import files
from search.services.jobs.stopping import stop as hand_jobs_back

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")

use_for_broker()
app = Celery("grasp")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

_heartbeats: list[Heartbeat] = []
_beats: list[Any] = []
_servers: list[Any] = []
SEARCH_QUEUE = "search"
"""Name of the queue of searches; its worker also sends the scheduled tasks."""
EXIT_STUCK = 70
"""Exit code of a process that a search did not give back (`EX_SOFTWARE` of sysexits.h)."""

log = structlog.get_logger(__name__)


@setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Keep Django's LOGGING: Celery does not configure logging if this signal has a receiver."""


@celeryd_after_setup.connect
def warm_up(instance: Any, **_: Any) -> None:
    """Load the models and indexes that the worker's queues need, before it takes the first task."""
    for queue in instance.app.amqp.queues.consume_from:
        prepare(queue)


@cache
def prepare(queue: str) -> None:
    """Load what a queue needs; processes that are forked afterwards have it already."""
    for path in settings.GRASP_WARM_UP.get(queue, ()):
        import_string(path)()


@worker_ready.connect
def start_heartbeats(sender: Any, **_: Any) -> None:
    """Start a heartbeat for each queue, which tells the web process that the queue has a worker."""
    for queue in sender.app.amqp.queues.consume_from:
        heartbeat = Heartbeat(settings.REDIS_URL, queue, sender.hostname)
        heartbeat.start()
        _heartbeats.append(heartbeat)


@worker_ready.connect
def attend_searches(sender: Any, **_: Any) -> None:
    """Have a process of searches look at its files and at its search."""
    if SEARCH_QUEUE in sender.app.amqp.queues.consume_from:
        import_string("search.services.knowledge.index_files.keep_looking")()
        import_string("search.services.searches.overdue.WATCH").attend(leave_when_stuck)


def leave_when_stuck(stuck: int) -> None:
    """End this process when its search is stuck; it has taken no other one, and a new process takes its place."""
    if stuck:
        log.error("search stuck: this process ends, and another takes its place")
        os._exit(EXIT_STUCK)


@worker_ready.connect
def start_metrics(**_: Any) -> None:
    """Serve metrics if the settings say where. Loading them here prepares their files before processes are forked."""
    if files.wanted():
        serve = import_string("grasp_site.metrics.serve.serve_metrics")()
        _servers.append(serve)


@worker_ready.connect
def start_beat(sender: Any, **_: Any) -> None:
    """Start a thread of this worker that sends the scheduled tasks.

    The scheduler keeps no file of its last runs, because the tasks themselves check which work is due.
    """
    if settings.GRASP_BEAT and SEARCH_QUEUE in sender.app.amqp.queues.consume_from:
        beat = EmbeddedService(sender.app, thread=True, scheduler_cls=Scheduler)
        beat.start()
        _beats.append(beat)


def leave_to_the_first() -> None:
    """Neither send scheduled tasks nor serve metrics in this process, because another one of the worker does."""
    worker_ready.disconnect(start_beat)
    worker_ready.disconnect(start_metrics)


@worker_shutting_down.connect
def stop_jobs(**_: Any) -> None:
    """Let the processes of this worker hand their jobs back, so that stopping it does not wait for their end."""
    hand_jobs_back()


@worker_shutting_down.connect
def stop_beat(**_: Any) -> None:
    while _beats:
        # `_beats[…].stop` would wait up to a second for the sleeping thread, which ends with the process anyway.
        _beats.pop().service.stop()


@worker_shutting_down.connect
def stop_heartbeats(**_: Any) -> None:
    while _heartbeats:
        _heartbeats.pop().stop()
