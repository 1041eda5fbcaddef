"""First the light ranker orders all candidates, then a neural reranker reads the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.conditions import CheckedConditions
from search.domain.fusion import Fusion
from search.domain.linking import LinkedPlan
from search.domain.options import part
from search.domain.question import Question
from search.domain.signals import Reranked
from search.domain.trace import Limit
from search.stages.rank_light import LightRank
from search.stages.rerank import Rerank


@dataclass(frozen=True)
class LightThenNeural:
    """Both rerankers, one after the other. What one of them cannot do is said, and the other works nevertheless."""

    light: LightRank = part(LightRank)
    neural: Rerank = part(Rerank)

    @property
    def backend(self) -> str:
        """The name of the neural reranker, for the trace."""
        return self.neural.backend

    def __call__(
        self,
        question: Question,
        fusion: Fusion,
        plans: Sequence[LinkedPlan],
        checked: CheckedConditions,
        limit: Limit,
    ) -> Fusion:
        """Return the reranked list. Raises the errors of both stages."""
        ordered = self.light(question, fusion, plans, checked, limit)
        if self.neural.keep_lead and fusion.leads:
            return ordered
        found = self.neural(question, ordered, plans, checked, limit)
        if ordered.detail and found.detail != ordered.detail:
            return Reranked(**{**vars(found), "detail": f"{ordered.detail} {found.detail}".strip()})
        return found
