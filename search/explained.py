"""The first candidates of the final list as results: what every explaining stage returns, whatever its evidence is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from search.domain.evidence import Evidence, Result
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.question import Question
from search.domain.signals import signals_of
from search.language.snippets import snippet


def explained(
    question: Question, fusion: Fusion, nodes: Sequence[Node], evidence: Mapping[int, Evidence | None], width: int
) -> list[Result]:
    """Return the first candidates of a list as results, with snippet, parts of the score, and evidence.

    `nodes` are the nodes of the candidates that are shown, in their order. `evidence` holds what is known of a key; a
    result without it has none. `width` is the length of a snippet, in characters.
    """
    head = fusion.ranking.candidates[: len(nodes)]
    return [
        Result(
            rank=rank,
            score=candidate.score,
            node=node,
            snippet=snippet(node, question.text, width),
            shares=fusion.leaves(candidate.key),
            evidence=evidence.get(candidate.key),
            fused=fusion.fused(candidate.key),
            signals=signals_of(fusion, candidate.key),
        )
        for rank, (candidate, node) in enumerate(zip(head, nodes, strict=True), 1)
    ]
