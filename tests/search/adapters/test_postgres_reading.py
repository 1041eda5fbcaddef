"""Postgres's errors in the words of a search."""

import pytest
from django.db import connection

from search.adapters.postgres_reading import read
from search.domain.errors import DeadlineExceeded, StageError
from search.domain.trace import Limit


@pytest.mark.django_db
def test_a_statement_ends_with_the_limit_of_the_search() -> None:
    with pytest.raises(DeadlineExceeded):
        read("vectors", "SELECT pg_sleep(20)", limit=Limit.seconds(0.05))


READ = "SELECT current_setting('hnsw.ef_search', true)"


@pytest.mark.django_db
def test_settings_hold_for_the_read_alone_inside_a_transaction() -> None:
    assert read("vectors", READ, settings={"hnsw.ef_search": 77}) == [("77",)]
    assert read("vectors", READ) != [("77",)]


@pytest.mark.django_db(transaction=True)
def test_settings_hold_for_the_read_alone_without_a_transaction() -> None:
    assert read("vectors", READ, settings={"hnsw.ef_search": 77}) == [("77",)]
    assert read("vectors", READ) != [("77",)]


@pytest.mark.django_db(transaction=True)
def test_after_a_time_limit_the_connection_reads_on() -> None:
    with pytest.raises(DeadlineExceeded):
        read("vectors", "SELECT pg_sleep(20)", limit=Limit.seconds(0.05))
    assert read("vectors", "SELECT current_setting('statement_timeout')") == [("0",)]


@pytest.mark.django_db
def test_a_refused_query_is_permanent() -> None:
    with pytest.raises(StageError, match="refused") as raised:
        read("vectors", "SELECT 1 / 0")
    assert (raised.value.permanent, raised.value.stage) == (True, "vectors")


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_breaks_is_temporary_and_the_next_search_gets_a_new_one() -> None:
    with pytest.raises(StageError, match="does not answer") as raised:
        read("vectors", "SELECT pg_terminate_backend(pg_backend_pid())")
    assert not raised.value.permanent
    assert read("vectors", "SELECT 1") == [(1,)]
    assert connection.is_usable()


KEPT = "SELECT count(*) FROM pg_prepared_statements WHERE statement = %s"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("threshold", "keep", "prepared"), [(2, True, 1), (2, False, 0), (None, True, 0)])
def test_a_query_that_comes_again_is_prepared_where_both_sides_allow_it(
    threshold: int | None, keep: bool, prepared: int
) -> None:
    connection.ensure_connection()
    connection.connection.prepare_threshold = threshold
    for number in range(4):
        assert read("traverse", "SELECT %s::int + 40", [number], keep=keep) == [(number + 40,)]
    assert read("traverse", KEPT, ["SELECT $1::int + 40"]) == [(prepared,)]
    connection.close()
