"""Traversals → the graph's one list (GRASP, section on dense rescoring; the mixing of several plans is ours)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search.cosines import QuestionCosines
from search.domain.filtering import meets
from search.domain.linking import GraphRanking, LinkedPlan, Traversal
from search.domain.options import option
from search.domain.plan import RISKS, Plan, Risk
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit
from search.domain.trust import Trust
from search.interfaces import Encoder, NodeStore, VectorIndex

ScoresByKey = dict[int, float]


@dataclass(frozen=True)
class Rescore:
    """Mixes what the plans found: the sum over plans of probability × (anchor score + residual cosine) ÷ anchors.

    Within one plan this is the published score (anchor cosines plus the cosine of the residual text and the document),
    so its order stands; the division by the number of anchors makes plans with one and with three of them comparable,
    and has to hold for the residual too, or the text would weigh more the more anchors a plan has. Over several plans
    it is the expected score: each plan is one reading of the question, and adds as much as it is probable.
    """

    encoder: Encoder
    vectors: VectorIndex
    nodes: NodeStore
    corpus: int = option(
        1_000,
        "How many documents a plan without any entity takes from the corpus.",
        low=1,
        high=10_000,
        public_high=2_000,
    )
    believed: float = option(0.05, "A plan less probable than this is scored by its anchors alone.", low=0, high=1)

    def __call__(
        self, question: Question, plans: Sequence[LinkedPlan], found: Sequence[Traversal], limit: Limit
    ) -> GraphRanking:
        """Return the merged list; empty, with the risk level `no_trade`, when no plan found anything."""
        by_index = {linked.index: linked for linked in plans}
        scores_of = {
            traversal.plan_index: {candidate.key: candidate.score for candidate in traversal.candidates}
            for traversal in found
            if not _left_out(by_index[traversal.plan_index].plan)
        }
        for linked in plans:
            if linked.plan.searches_documents:
                scores_of[linked.index] = self._search_documents(linked.plan, limit)
        self._add_residuals(by_index, scores_of, limit)
        merged: ScoresByKey = {}
        parts: dict[int, ScoresByKey] = {}
        for linked in _by_probability(plans):
            weight = linked.probability / max(1, len(linked.plan.anchors))
            parts[linked.index] = part = {k: weight * score for k, score in scores_of.get(linked.index, {}).items()}
            for key, score in part.items():
                merged[key] = merged.get(key, 0.0) + score
        if not merged:
            return GraphRanking.empty(found)
        best = _best(plans, scores_of)
        sure = best.probability / (max(1.0 - _refuted(plans, found), best.probability) or 1.0)
        ranking = Ranking.of(merged, QuestionCosines(question, self.encoder, self.vectors, limit, "rescore"))
        return GraphRanking(ranking, Trust(len(scores_of[best.index]), _risk(plans, best), sure), parts, found)

    def _search_documents(self, plan: Plan, limit: Limit) -> ScoresByKey:
        """Answer a plan that names no entity from the whole corpus, by the cosine of its text (`doc_search`)."""
        limit.check("rescore")
        text = " ".join(anchor.text for anchor in plan.anchors) or plan.target.relevance_text
        if not text:
            return {}
        vector = self.encoder.encode([text])[0]
        nearest = self.vectors.nearest("document+relations", vector, self.corpus, plan.target.labels, limit)
        scores = {candidate.key: candidate.score for candidate in nearest}
        if plan.filters:
            kept = [node.key for node in self.nodes.nodes(list(scores), limit) if meets(node, plan.filters)]
            scores = {key: scores[key] for key in kept}
        return scores

    def _add_residuals(
        self, by_index: Mapping[int, LinkedPlan], scores_of: Mapping[int, ScoresByKey], limit: Limit
    ) -> None:
        """Add the cosine of each plan's residual text and the candidates' documents; each text is embedded once.

        A plan that is hardly believed would add next to nothing, and costs as much as one that is.
        """
        wanted: dict[str, list[ScoresByKey]] = {}
        for index, scores in scores_of.items():
            linked = by_index[index]
            believed = linked.probability >= self.believed
            if scores and believed and (text := linked.plan.target.relevance_text):
                wanted.setdefault(text, []).append(scores)
        if not wanted:
            return
        limit.check("rescore")
        vectors = self.encoder.encode(list(wanted))
        for vector, several in zip(vectors, wanted.values(), strict=True):
            limit.check("rescore")
            keys = sorted({key for scores in several for key in scores})
            cosines = self.vectors.cosines(vector, keys)
            for scores in several:
                for key in scores:
                    scores[key] += cosines.get(key, 0.0)


def _left_out(plan: Plan) -> bool:
    """Whether the graph's answer does not count: the plan says so, or the corpus answers instead."""
    return plan.retrieval_mode == "skip" or plan.searches_documents


def _best(plans: Sequence[LinkedPlan], scores_of: Mapping[int, ScoresByKey]) -> LinkedPlan:
    """Return the most probable plan that found something."""
    return next(linked for linked in _by_probability(plans) if scores_of.get(linked.index))


def _refuted(plans: Sequence[LinkedPlan], found: Sequence[Traversal]) -> float:
    """Return the probability of the plans that were executed to the end and found nothing.

    Whatever made them probable, the others share it: a plan that finds nothing takes nothing from one that does.
    """
    empty = {one.plan_index for one in found if not one.candidates and not one.truncated}
    return sum(linked.probability for linked in plans if linked.index in empty and not _left_out(linked.plan))


def _risk(plans: Sequence[LinkedPlan], best: LinkedPlan) -> Risk:
    """Return the best plan's risk level, a step more careful where a more probable plan found nothing.

    A plan that asks the graph nothing does not count: that it is the more probable one, the level says already.
    """
    level = RISKS.index(best.plan.risk_level)
    ordered = _by_probability(plans)
    ahead = ordered[: ordered.index(best)]
    return RISKS[max(0, level - 1)] if any(linked.plan.anchors for linked in ahead) else RISKS[level]


def _by_probability(plans: Sequence[LinkedPlan]) -> list[LinkedPlan]:
    return sorted(plans, key=lambda linked: (-linked.probability, linked.index))
