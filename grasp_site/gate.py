"""Limits that all processes share: the number of actions in a period, and the number of tasks in a queue.

One script inside Valkey decides each limit, so that requests that arrive at the same time are counted one by one.
`search` finds these functions by the dotted paths of `settings.GRASP_GATE`.
"""

import json
import time
import uuid

from django.conf import settings

from grasp_site.heartbeat import broker
from search.services.searches.sent import SENT

PREFIX = "grasp:limit:"
RESERVED_SECONDS = 5
"""Seconds until a reserved place in a queue expires if its task never arrives, because the sender died."""

# The set holds the times of the allowed actions of the last `period`, oldest first. Refused actions are not stored.
_TAKE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local period = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - period)
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('ZADD', KEYS[1], now, ARGV[3])
  redis.call('PEXPIRE', KEYS[1], period)
  return 0
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return math.max(1, tonumber(oldest[2]) + period - now)
"""
# A place is reserved until its task is in the queue. The limit holds for tasks and reserved places together.
_RESERVE = """
local clock = redis.call('TIME')
local now = tonumber(clock[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[1]) then
  return 0
end
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[2]), ARGV[3])
redis.call('EXPIRE', KEYS[2], 2 * tonumber(ARGV[2]))
return 1
"""


def take(name: str, most: int, seconds: float) -> float:
    """Count one action under this name; any period of `seconds` allows `most` actions.

    Returns 0 if the action is allowed, otherwise the seconds until the next one will be.

    Raises `redis.RedisError` when Valkey does not answer.
    """
    arguments = (most, int(1000 * seconds), uuid.uuid4().hex)
    return int(broker(settings.REDIS_URL).eval(_TAKE, 1, f"{PREFIX}{name}", *arguments)) / 1000


def give_back(name: str) -> None:
    """Remove the last action under this name from the count. Raises `redis.RedisError` when Valkey does not answer."""
    broker(settings.REDIS_URL).zpopmax(f"{PREFIX}{name}")


def reserve(queue: str, length: int) -> str | None:
    """Reserve a place in a queue of at most `length` tasks; call `release` once the task is sent.

    Returns the id of the place, or None when the queue is full.
    Raises `redis.RedisError` when Valkey does not answer.
    """
    place = uuid.uuid4().hex
    keys = (queue, _reserved(queue))
    return place if broker(settings.REDIS_URL).eval(_RESERVE, 2, *keys, length, RESERVED_SECONDS, place) else None


def queued(queue: str) -> tuple[int, float]:
    """Return the number of tasks in a queue, and the seconds for which the oldest has waited, 0 if it does not say.

    Raises `redis.RedisError` when Valkey does not answer.
    """
    asked = broker(settings.REDIS_URL).pipeline(transaction=False)
    asked.llen(queue)
    asked.lindex(queue, -1)
    length, oldest = asked.execute()
    try:
        return int(length), max(0.0, time.time() - float(json.loads(oldest or b"{}")["headers"][SENT]))
    except (ValueError, KeyError, TypeError):
        return int(length), 0.0


def release(queue: str, place: str) -> None:
    """Release a reserved place, after its task was sent or could not be sent.

    Raises `redis.RedisError` when Valkey does not answer.
    """
    broker(settings.REDIS_URL).zrem(_reserved(queue), place)


def _reserved(queue: str) -> str:
    return f"{PREFIX}queue:{queue}"
