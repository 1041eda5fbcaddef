"""Statements to the vector engine: their limits, their errors in the words of a search, and their connections."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from psycopg import sql

from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.trace import Limit
from search.models.vector_servers import EngineAway, EngineLacks, VectorServer, ask, parse
from tests.vector_server import VectorPostgres


@pytest.fixture
def two(vector_server: VectorPostgres) -> tuple[VectorServer, ...]:
    return parse(",".join(vector_server.database(name) for name in ("one", "other")))


def said(text: str) -> Callable[[VectorServer], sql.Composed]:
    """Return the same statement for every server."""
    return lambda server: sql.SQL(text).format()  # type: ignore[arg-type]


def test_every_server_answers_for_itself(two: tuple[VectorServer, ...]) -> None:
    def own(server: VectorServer) -> sql.Composed:
        return sql.SQL("SELECT {}, current_database()::text").format(sql.Literal(server.place))

    assert ask("vectors", two, own, {}) == [[(0, "one")], [(1, "other")]]


def test_settings_hold_for_the_statement_alone(two: tuple[VectorServer, ...]) -> None:
    shown = said("SELECT current_setting('work_mem')")
    assert ask("vectors", two, shown, {"work_mem": "77MB"}) == [[("77MB",)], [("77MB",)]]
    assert ask("vectors", two, shown, {}) == [[("32MB",)], [("32MB",)]]


def test_a_statement_ends_with_the_limit_of_the_search_and_the_connection_serves_the_next(
    two: tuple[VectorServer, ...],
) -> None:
    backend = said("SELECT pg_backend_pid()")
    before = ask("vectors", two, backend, {})
    with pytest.raises(DeadlineExceeded):
        ask("vectors", two, said("SELECT pg_sleep(20)"), {}, Limit.seconds(0.05))
    assert ask("vectors", two, backend, {}) == before
    assert ask("vectors", two[:1], said("SELECT current_setting('statement_timeout')"), {}) == [[("0",)]]
    with pytest.raises(SearchCancelled):
        ask("vectors", two, backend, {}, Limit(cancelled=lambda: True))


def test_what_is_missing_refused_or_away_is_told_apart(two: tuple[VectorServer, ...]) -> None:
    with pytest.raises(EngineLacks) as lacking:
        ask("vectors", two, said("SELECT * FROM grasp_vectors_1_0_of_2"), {})
    assert lacking.value.permanent
    with pytest.raises(StageError, match="the vector engine refused the query: division by zero") as refused:
        ask("vectors", two, said("SELECT 1 / 0"), {})
    assert refused.value.permanent
    with pytest.raises(EngineAway, match="the vector engine does not answer") as away:
        ask("vectors", parse("postgresql://grasp:hidden-word@127.0.0.1:1/vectors"), said("SELECT 1"), {})
    assert not away.value.permanent
    assert "hidden-word" not in str(away.value)


def test_a_connection_that_broke_is_replaced_once(two: tuple[VectorServer, ...]) -> None:
    dying = said("SELECT pg_terminate_backend(pg_backend_pid())")
    assert ask("vectors", two, said("SELECT 1"), {}) == [[(1,)], [(1,)]]
    with pytest.raises(EngineAway):
        ask("vectors", two, dying, {})
    assert ask("vectors", two, said("SELECT 1"), {}) == [[(1,)], [(1,)]]


def test_several_addresses_are_separated_by_commas_and_a_table_is_named_by_its_share() -> None:
    first, second = parse("postgresql://a@h/x, postgres://b@h/y")
    assert [one.address for one in (first, second)] == ["postgresql://a@h/x", "postgres://b@h/y"]
    assert [one.table(7) for one in (first, second)] == ["grasp_vectors_7_0_of_2", "grasp_vectors_7_1_of_2"]
    assert parse("") == ()
    with pytest.raises(ValueError, match="VECTORS_URL takes postgresql://"):
        parse("qdrant://h")
