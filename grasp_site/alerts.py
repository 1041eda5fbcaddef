"""Alerts that only the site's own processes know: example secrets, an open site, and clocks that differ."""

from __future__ import annotations

import time
from collections.abc import Iterator

import redis
from django.conf import settings
from django.db import connection

from grasp_site.heartbeat import broker, worker_states
from grasp_site.security import example_secrets
from search.services.upkeep.alerts import Alert

MOST_SECONDS = 2.0
"""Seconds by which clocks may differ. Leases are measured by Postgres' clock, shown times by each machine's own."""


def secrets() -> Iterator[Alert]:
    """Yield an alert if a secret has the value of an example, or the site shows its insides."""
    if names := example_secrets():
        yield Alert(
            "secrets", "now", f"The value of {', '.join(names)} is that of an example, which everybody knows.",
            "Set a random value. A new SECRET_KEY signs everybody out, and keys of language models are entered again.",
            command="openssl rand -base64 48",
        )  # fmt: skip
    if settings.DEBUG:
        yield Alert(
            "secrets", "now", "DEBUG is on: pages of errors show the insides of the site to everybody.",
            "Take it out of the environment, and start the site again.",
        )  # fmt: skip


def clocks() -> Iterator[Alert]:
    """Yield an alert for Postgres, Valkey and each worker whose clock differs from that of this machine."""
    for name, ahead in _ahead():
        if abs(ahead) > MOST_SECONDS:
            way = "ahead of" if ahead > 0 else "behind"
            yield Alert(
                "clock", "soon", f"The clock of {name} is {abs(ahead):.0f} seconds {way} that of this machine.",
                "Let all machines keep the time by NTP (`timedatectl set-ntp true`).",
            )  # fmt: skip


def _ahead() -> Iterator[tuple[str, float]]:
    """Yield the name of another clock, and by how many seconds it is ahead of this one."""
    with connection.cursor() as cursor:
        asked = time.time()
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        [there] = cursor.fetchone()
        yield "Postgres", there - (asked + time.time()) / 2
    try:
        asked = time.time()
        seconds, micros = broker(settings.REDIS_URL).time()
        brokers = seconds + micros / 1e6 - (asked + time.time()) / 2
        yield "Valkey", brokers
        for queue in settings.GRASP_WARM_UP:
            for state in worker_states(queue):
                # Each worker reports how far it is ahead of the broker.
                yield f"the worker {state['worker']}", state.get("ahead", 0.0) + brokers
    except redis.RedisError:
        return
