"""Runs compiled plans within the limits of a search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection
from django.db.utils import OperationalError

from search.adapters.graph_postgres.compile import Compiler, Query, Tables
from search.adapters.graph_postgres.paths import read_paths
from search.domain.errors import DeadlineExceeded, StageError
from search.domain.evidence import Path
from search.domain.graph import Schema
from search.domain.linking import LinkedPlan, Traversal
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.interfaces import NodeStore

LONGEST_TIMEOUT = 2**31 - 1
"""What `statement_timeout` can hold, in milliseconds."""

SETTINGS = """SELECT set_config('statement_timeout', %s, true), set_config('jit', 'off', true),
set_config('enable_seqscan', 'off', true), set_config('random_page_cost', '1.1', true),
set_config('max_parallel_workers_per_gather', '0', true)"""
"""A plan starts from a few nodes: the planner, which cannot know the degrees, is kept from preparing for millions."""


class PostgresGraph:
    """The graph of one snapshot in its partitions of Postgres (interfaces.GraphStore)."""

    backend = "postgres"

    def __init__(self, snapshot_id: int, schema: Schema, nodes: NodeStore) -> None:
        self._tables = Tables(snapshot_id)
        self._schema = schema
        self._nodes = nodes

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        """Return the candidates of a linked plan; see the protocol."""
        if not _bound(linked):
            return Traversal(linked.index, self.backend, ())
        query = Compiler(linked, self._schema, self._tables).candidates(rows)
        found = self._fetch("traverse", query, limit)
        candidates = tuple(Candidate(key, score) for key, score in found[:rows])
        return Traversal(linked.index, self.backend, candidates, len(found) > rows, query.text)

    def paths(
        self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int = 1
    ) -> dict[int, list[tuple[Path, ...]]]:
        """Return the best matches of the keys; see the protocol."""
        if not _bound(linked) or not keys or most < 1:
            return {}
        query = Compiler(linked, self._schema, self._tables).paths(keys, most)
        return read_paths(linked.plan, self._fetch("explain", query, limit), self._schema, self._nodes, most)

    def _fetch(self, stage: str, query: Query, limit: Limit) -> list[tuple[Any, ...]]:
        limit.check(stage)
        with _errors(stage, limit), _transaction() as cursor:
            left = limit.remaining()
            milliseconds = 0 if math.isinf(left) else min(LONGEST_TIMEOUT, max(1, int(left * 1000)))
            cursor.execute(SETTINGS, [str(milliseconds)])
            cursor.execute(query.text, query.parameters)
            return cursor.fetchall()


def _bound(linked: LinkedPlan) -> bool:
    """Whether the plan has anchors, and each of them a binding."""
    return bool(linked.plan.anchors) and all(linked.bindings_of(anchor.var) for anchor in linked.plan.anchors)


@contextmanager
def _transaction() -> Iterator[psycopg.Cursor[tuple[Any, ...]]]:
    """A transaction, or a savepoint inside one, that is rolled back: it only reads, and its settings end with it.

    The cursor is psycopg's own, which binds parameters on the server and reads results in binary.
    """
    connection.ensure_connection()
    raw = connection.connection
    # In a pipeline, so that beginning, settings and query travel together.
    with raw.pipeline(), raw.transaction(force_rollback=True), psycopg.Cursor(raw) as cursor:
        cursor.format = psycopg.pq.Format.BINARY
        yield cursor


@contextmanager
def _errors(stage: str, limit: Limit) -> Iterator[None]:
    """Say what Postgres says in the words of a search."""
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        limit.check(stage)
        raise DeadlineExceeded(stage, "Postgres stopped the query: its time ran out") from error
    except (OperationalError, psycopg.OperationalError, psycopg.InterfaceError) as error:
        connection.close()
        raise StageError(stage, f"Postgres does not answer: {_sentence(error)}") from error
    except psycopg.errors.UndefinedTable as error:
        raise StageError(stage, "the graph of this snapshot is no longer in Postgres", permanent=True) from error
    except psycopg.Error as error:
        raise StageError(stage, f"Postgres refused the query: {_sentence(error)}", permanent=True) from error


def _sentence(error: Exception) -> str:
    """Return the first line of what the server or the driver says."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
