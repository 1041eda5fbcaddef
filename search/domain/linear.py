"""Linear fusion of BM25 and cosine over one set of nodes: both brought to the range from 0 to 1, then weighted.

SAGE (section 2.2 and appendix E) adds up sparse and dense scores with fixed weights. BM25 has no upper bound, so each
scorer is rescaled over the nodes that are compared: the lowest of them gets 0, the highest 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from search.domain.fusion import Fusion
from search.domain.ranking import Cosines, Ranking, by_key

BM25, VECTORS = "bm25", "vss"
F = TypeVar("F", bound=Fusion)


def linear(
    words: Mapping[int, float],
    cosines: Mapping[int, float],
    weight: float,
    depth: int,
    tied: Cosines,
    kind: type[F],
    **told: Any,
) -> F:
    """Return the fusion of a BM25 score and a cosine for each node, the best `depth` of them.

    `words` and `cosines` map the nodes to their scores; a node without a cosine counts as the farthest. `weight` is
    that of BM25, in [0, 1]; cosines have the rest. Without any cosines, BM25 alone counts. `kind` is the class of the
    fusion, `told` holds values of further fields. Equal sums are ordered by `tied`, then by key.
    """
    lists = {BM25: Ranking.of(rescaled(words), by_key)}
    weights = {BM25: weight if cosines else 1.0}
    if cosines:
        farthest = min(cosines.values())
        lists[VECTORS] = Ranking.of(rescaled({key: cosines.get(key, farthest) for key in words}), by_key)
        weights[VECTORS] = 1.0 - weight
    return kind.added(lists, weights, tied, depth, **told)


def rescaled(scores: Mapping[int, float]) -> dict[int, float]:
    """Return the scores moved and stretched to the range from 0 to 1; if all are equal, 0 for none above 0, else 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 1.0 if high > 0 else 0.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}
