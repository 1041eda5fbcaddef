"""The scheduler of a `celery beat` of its own: `celery --app grasp_site beat --scheduler grasp_site.beat.Scheduler`."""

from contextlib import suppress
from typing import Any

import redis
from celery import beat
from django.conf import settings

from grasp_site.heartbeat import broker
from grasp_site.probe import BEAT_KEY

LIFETIME_SECONDS = 30
"""Seconds after its last run from which on the scheduler counts as stuck; it runs every few seconds."""


class Scheduler(beat.Scheduler):
    """Sends the scheduled tasks, keeps no file of its last runs, and tells the broker each time that it has run.

    It needs no file because the tasks themselves check which work is due.
    """

    def tick(self, *arguments: Any, **options: Any) -> float:
        """Send what is due; return the seconds until the next run. A broker that is away is no reason to stop."""
        pause: float = super().tick(*arguments, **options)
        with suppress(redis.RedisError):
            broker(settings.REDIS_URL).set(BEAT_KEY, "runs", ex=LIFETIME_SECONDS)
        return pause
