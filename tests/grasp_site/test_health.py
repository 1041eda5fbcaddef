import pytest
from django.db import connection

from grasp_site.health import database, queue_broker, search_worker

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
