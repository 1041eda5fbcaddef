"""Postgres's errors in the words of a search."""

import pytest
from django.db import connection

from search.adapters.postgres_reading import reading
from search.domain.errors import DeadlineExceeded, StageError
from search.domain.trace import Limit


@pytest.mark.django_db
def test_a_statement_ends_with_the_limit_of_the_search() -> None:
    with pytest.raises(DeadlineExceeded), reading("vectors", Limit.seconds(0.05)) as cursor:
        cursor.execute("SELECT pg_sleep(20)")


@pytest.mark.django_db
def test_settings_hold_for_the_transaction_alone() -> None:
    with reading("vectors", **{"hnsw.ef_search": 77}) as cursor:
        cursor.execute("SELECT current_setting('hnsw.ef_search')")
        assert cursor.fetchone() == ("77",)


@pytest.mark.django_db
def test_a_refused_query_is_permanent() -> None:
    with pytest.raises(StageError, match="refused") as raised, reading("vectors") as cursor:
        cursor.execute("SELECT 1 FROM nowhere")
    assert (raised.value.permanent, raised.value.stage) == (True, "vectors")


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_breaks_is_temporary_and_the_next_search_gets_a_new_one() -> None:
    with pytest.raises(StageError, match="does not answer") as raised, reading("vectors") as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    assert not raised.value.permanent
    with reading("vectors") as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
    assert connection.is_usable()
