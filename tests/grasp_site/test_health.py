import json

import pytest
import redis
from django.conf import settings
from django.db import connection

from grasp_site.health import Health, database, queue_broker, search_worker
from grasp_site.heartbeat import broker, worker_key, workers_key

pytestmark = pytest.mark.django_db


def test_the_tests_run_on_a_database_of_their_own() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        assert cursor.fetchone() == ("test_grasp",)


def test_postgres_and_valkey_are_well_while_they_run() -> None:
    assert database().ok
    assert queue_broker().ok


def test_a_search_worker_that_is_not_there_is_missed_with_a_reason() -> None:
    health = search_worker()
    assert not health.ok
    assert "search worker" in health.reason


def workers(client: redis.Redis, *stuck: int) -> None:
    """Have workers of two threads report so many stuck ones each."""
    now = client.time()[0] * 1000
    client.delete(workers_key("search"))
    for number, threads in enumerate(stuck):
        state = json.dumps({"worker": f"search@{number}", "pid": number, "threads": 2, "stuck": threads})
        client.set(worker_key("search"), state, px=60_000)
        client.zadd(workers_key("search"), {state: now + 60_000})


def test_a_worker_with_too_many_stuck_threads_is_no_worker_that_searches(services: object) -> None:
    client = broker(settings.REDIS_URL)
    try:
        workers(client, 0, 0)
        assert search_worker() == Health(True)
        workers(client, 1, 0)
        told = "1 of 4 search threads are stuck in searches that did not stop at their time limit"
        assert search_worker() == Health(True, f"{told}.")
        workers(client, 2)
        told = "2 of 2 search threads are stuck in searches that did not stop at their time limit"
        assert search_worker() == Health(False, f"{told}; the search worker is being started again.")
    finally:
        client.delete(worker_key("search"), workers_key("search"))
