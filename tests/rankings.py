"""Rankings for tests; their cosines come from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from search.domain.ranking import Cosines, Ranking


def table(cosines: Mapping[int, float]) -> Cosines:
    """Return a function that returns the cosines of the given keys; keys outside the table are left out."""

    def of(keys: Sequence[int]) -> Mapping[int, float]:
        return {key: cosines[key] for key in keys if key in cosines}

    return of


def ranked(scores: Mapping[int, float], cosines: Mapping[int, float] = {}, depth: int | None = None) -> Ranking:
    """Return the ranking of {key: score}; `cosines` break ties and `depth` is its maximum length."""
    return Ranking.of(scores, table(cosines), depth)
