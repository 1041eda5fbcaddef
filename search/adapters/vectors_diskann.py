"""Nearest neighbours from a vector engine: servers with pgvectorscale, whose DiskANN indexes need little memory.

Every server holds a share of the nodes (`search.models.vector_servers`). Each is asked for the k nearest of its share,
all at the same time, and the best k of all of them are the answer. Sets that are small enough to be compared in memory
are, as with pgvector, and cosines of given nodes come from the same matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from heapq import nlargest

from psycopg import sql

from search.adapters.breaker import Breaker
from search.adapters.vectors_pgvector import EXACT, NEAREST, STAGE, PgVectors, fetched, typed_as
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.interfaces import VectorKind, Vectors
from search.models.vector_servers import EngineAway, EngineLacks, VectorServer, ask, servers

LEAST_FETCHED, AGAIN = 200, 3
"""Least number of vectors that are fetched from an index, and how often the number that other indexes would fetch.

It holds two bits a dimension and orders by them; the exact cosines of what was fetched decide. For the nearest 10 of
30,000 vectors of 384 dimensions, 20 fetched ones held 5 or 6 of them, and 200 all. For the nearest 100 of 70,000 of 96
dimensions, twice as many held 92, three times 98, six times all."""
UNORDERED: dict[str, str | int] = {"diskann.query_rescore": 0}
"""The index itself compares nothing exactly: it would compare vectors of other types, too."""
_DISTANCE = "embedding <=> {exact}::vector({dimensions})"


@lru_cache(maxsize=8)
def breaker(engine: tuple[VectorServer, ...]) -> Breaker:
    """Return the breaker of this process for an engine; all releases share it."""
    return Breaker()


class DiskAnnVectors(PgVectors):
    """The vectors of one vector set, searched by the engine of `VECTORS_URL` (interfaces.VectorIndex).

    A set that the engine does not hold is searched in the site's own Postgres. While the engine does not answer, a
    temporary StageError says so.
    """

    backend = "pgvectorscale"

    def _looked_up(
        self, kind: VectorKind, vector: Vectors, k: int, codes: Sequence[int], *, exact: bool, limit: Limit | None
    ) -> list[Candidate]:
        engine = servers()
        guard = breaker(engine)
        if reason := guard.reason():
            raise EngineAway(STAGE, reason)
        try:
            found = self._merged(engine, kind, vector, k, codes, exact, limit)
        except EngineLacks:
            return super()._looked_up(kind, vector, k, codes, exact=exact, limit=limit)
        except EngineAway as error:
            guard.failed(error.reason)
            raise
        guard.answered()
        return found

    def _merged(
        self,
        engine: Sequence[VectorServer],
        kind: VectorKind,
        vector: Vectors,
        k: int,
        codes: Sequence[int],
        exact: bool,
        limit: Limit | None,
    ) -> list[Candidate]:
        """Return the best k of the k nearest nodes of each server."""
        fetch = max(LEAST_FETCHED, AGAIN * fetched(kind, k))
        parts = {"typed": typed_as(codes), "k": sql.Literal(k), "fetch": sql.Literal(fetch)}

        def statement(text: str, server: VectorServer) -> sql.Composed:
            table = sql.Identifier(server.table(self._vector_set))
            return self._compose(text, kind, vector, table=table, distance=_DISTANCE, **parts)

        found: list[Candidate] = []
        unasked = list(engine)
        if not exact:
            answers = ask(STAGE, engine, lambda server: statement(NEAREST, server), UNORDERED, limit)
            whole = [len(rows) == k for rows in answers]
            found += [
                Candidate._make(row) for rows, enough in zip(answers, whole, strict=True) if enough for row in rows
            ]
            # The others may have no more, or their index did not reach all of them.
            unasked = [server for server, enough in zip(engine, whole, strict=True) if not enough]
        if unasked:
            answers = ask(STAGE, unasked, lambda server: statement(EXACT, server), {}, limit)
            found += [Candidate._make(row) for rows in answers for row in rows]
        return nlargest(k, found, key=lambda candidate: (candidate.score, -candidate.key))
