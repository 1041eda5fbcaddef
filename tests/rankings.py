"""Rankings in tests: their cosines, where any are needed, come from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from search.domain.ranking import Cosines, Ranking


def table(cosines: Mapping[int, float]) -> Cosines:
    """Return what gives the cosines of a table, and nothing for keys that are not in it."""

    def of(keys: Sequence[int]) -> Mapping[int, float]:
        return {key: cosines[key] for key in keys if key in cosines}

    return of


def ranked(scores: Mapping[int, float], cosines: Mapping[int, float] = {}, depth: int | None = None) -> Ranking:
    """Rank scores."""
    return Ranking.of(scores, table(cosines), depth)
