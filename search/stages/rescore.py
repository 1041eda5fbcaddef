"""Merges the traversals into the graph's list (GRASP, section on dense rescoring).

Mixing several plans is new against GRASP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from search.cosines import QuestionCosines, likeness, squared_coverage
from search.domain.filtering import meets
from search.domain.linking import GraphRanking, LinkedPlan, Traversal
from search.domain.options import option
from search.domain.plan import RISKS, Plan, Risk
from search.domain.question import Question
from search.domain.ranking import CandidateArrays, Keys, Numbers, Ranking, Scores
from search.domain.trace import Limit
from search.domain.trust import Trust
from search.interfaces import Encoder, NodeStore, TextIndex, VectorIndex

_BORNE_OUT = 0.7
"""Least score of a plan's best candidate for the words left over, as a share of the best score of all documents."""
_SAID = 0.5
"""Least score of a document for the words that an ordering plan leaves over, as a share of the best candidate's."""
ORDERED = 100.0
"""Smallest score of a candidate that the best plan's order has placed; scores of other candidates are smaller."""


@dataclass(frozen=True)
class Rescore:
    """Mixes the candidates of the plans: a score is the sum over plans of probability × (anchors + residual) ÷ n.

    `anchors` is the anchor score, and n the number of anchors. `residual` compares the plan's residual text with the
    document: their likeness and `words` × squared coverage (`search.cosines`; new against GRASP). The published
    score of one plan is anchor score plus residual cosine; its order is kept. The division by n makes plans with
    different numbers of anchors comparable. It also applies to the residual: otherwise the text would weigh more in
    plans with more anchors. Over several plans the sum is the expected score: each plan is one interpretation of the
    question and counts by its probability. Each candidate of a plan without anchors scores 1.

    If the best plan has an order, it alone decides about its own candidates: they come first, in its order. The score
    is then at least `ORDERED`, larger the better the place. Equal places are ordered by the merged score.
    """

    encoder: Encoder
    vectors: VectorIndex
    nodes: NodeStore
    text: TextIndex | None = None
    corpus: int = option(
        1_000,
        "Number of documents taken from the corpus for a plan without any entity.",
        low=1,
        high=10_000,
        public_high=2_000,
    )
    read: int = option(
        50,
        "Number of documents, by words and by vectors each, for a question left to the text of the types it asks for.",
        low=1, high=1_000,
    )  # fmt: skip
    words: float = option(
        16.0, "Weight of the squared coverage of a plan's residual text by documents of its answers, beside likeness.",
        low=0, high=100,
    )  # fmt: skip
    believed: float = option(
        0.05,
        "A plan is scored by its starting points alone if it is less probable than this part of the most probable one.",
        low=0,
        high=1,
    )

    def __call__(
        self, question: Question, plans: Sequence[LinkedPlan], found: Sequence[Traversal], limit: Limit
    ) -> GraphRanking:
        """Return the merged list; empty, with the risk level `no_trade`, if no plan found anything.

        Raises StageError, DeadlineExceeded and SearchCancelled.
        """
        by_index = {linked.index: linked for linked in plans}
        scores_of = {
            traversal.plan_index: _scores(by_index[traversal.plan_index].plan, traversal)
            for traversal in found
            if not _left_out(by_index[traversal.plan_index].plan)
        }
        for linked in plans:
            if linked.plan.searches_documents:
                scores_of[linked.index] = self._search_documents(linked.plan, limit)
            elif linked.plan.reads_type:
                scores_of[linked.index] = self._read_type(linked.plan, limit)
        self._add_residuals(by_index, scores_of, limit)
        parts: dict[int, Scores] = {}
        for linked in _by_probability(plans):
            weight = linked.probability / max(1, len(linked.plan.anchors))
            own = scores_of.get(linked.index, _NOTHING)
            parts[linked.index] = Scores(own.order, weight * own.numbers)
        merged = _sum(parts)
        if not merged:
            return GraphRanking.empty(found)
        best = _best(plans, scores_of)
        candidates = scores_of[best.index].order
        merged, parts = _in_order(best, found, merged, parts, self._said(best.plan, candidates))
        sure = best.probability / (max(1.0 - _refuted(plans, found), best.probability) or 1.0)
        ranking = Ranking.of(merged, QuestionCosines(question, self.encoder, self.vectors, limit, "rescore"))
        risk = _risk(plans, best)
        read = any(linked.plan.reads_type and scores_of.get(linked.index) for linked in plans)
        if read or self._borne_out(best.plan, candidates):
            risk = RISKS[max(RISKS.index(risk), RISKS.index("normal"))]
        trust = Trust(len(scores_of[best.index]), risk, sure, not best.plan.target.relevance_text)
        return GraphRanking(ranking, trust, parts, found)

    def _search_documents(self, plan: Plan, limit: Limit) -> Scores:
        """Return key → cosine of the documents nearest to the text of a plan that names no entity (`doc_search`)."""
        limit.check("rescore")
        text = " ".join(anchor.text for anchor in plan.anchors) or plan.target.relevance_text
        if not text:
            return _NOTHING
        vector = self.encoder.encode([text])[0]
        nearest = self.vectors.nearest("document+relations", vector, self.corpus, plan.target.labels, limit)
        scores = {candidate.key: candidate.score for candidate in nearest}
        if plan.filters:
            kept = [node.key for node in self.nodes.nodes(list(scores), limit) if meets(node, plan.filters)]
            scores = {key: scores[key] for key in kept}
        return Scores.of(scores)

    def _read_type(self, plan: Plan, limit: Limit) -> Scores:
        """Return key → 0 for the documents of a plan's types that match its text best, by words and by vectors.

        Their scores are the residual's: other plans' candidates have them on top of the score of their anchors.
        """
        limit.check("rescore")
        text, labels = plan.target.relevance_text, plan.target.labels
        found = self.text.search(text, self.read, labels) if self.text is not None else []
        if self.vectors.kinds:
            vector = self.encoder.encode([text])[0]
            found = [*found, *self.vectors.nearest("document+relations", vector, self.read, labels, limit)]
        return Scores.of(dict.fromkeys((candidate.key for candidate in found), 0.0))

    def _add_residuals(self, by_index: Mapping[int, LinkedPlan], scores_of: Mapping[int, Scores], limit: Limit) -> None:
        """Add the cosines of each plan's residual text and its candidates' documents; each text is embedded once.

        Plans much less probable than the best are left out: they would add almost nothing and cost as much as others.
        """
        least = self.believed * max((by_index[index].probability for index in scores_of), default=0.0)
        wanted: dict[str, list[tuple[Scores, int]]] = {}
        for index, scores in scores_of.items():
            linked = by_index[index]
            if scores and linked.probability >= least and (text := linked.plan.target.relevance_text):
                wanted.setdefault(text, []).append((scores, max(1, len(linked.plan.anchors))))
        if not wanted:
            return
        limit.check("rescore")
        vectors = self.encoder.encode(list(wanted))
        for vector, (text, several) in zip(vectors, wanted.items(), strict=True):
            limit.check("rescore")
            keys = np.unique(np.concatenate([scores.order for scores, _ in several]))
            known = likeness(self.vectors, vector, keys.tolist())
            cosines = np.fromiter((known.get(key, 0.0) for key in keys.tolist()), np.float64, len(keys))
            matches = self._covered(text, keys)
            for scores, anchors in several:
                places = keys.searchsorted(scores.order)
                scores.numbers += cosines[places] + anchors * matches[places]

    def _borne_out(self, plan: Plan, keys: Keys) -> bool:
        """Whether a document that the plan finds says its residual text about as well as the best of all documents.

        Among a plan's few candidates, that would be a strange chance if the plan were wrong.
        """
        text = plan.target.relevance_text
        if not plan.anchors or not text or self.text is None:
            return False
        best = self.text.search(text, 1)
        _, found = self.text.word_scores(text, keys.astype(np.int32))
        return bool(best) and float(found.sum(axis=0).max(initial=0.0)) >= _BORNE_OUT * best[0].score

    def _said(self, plan: Plan, keys: Keys) -> Keys:
        """Return the nodes that an order puts first: those whose documents say the words that the plan leaves over.

        *The newest paper on batteries* is the newest of those on batteries. Without such words, or where no document
        says a single one, it is all. Several that no document says describe something in other words: *which drug was
        first used to get rid of rodents* asks for no date. Then no order counts.
        """
        text = plan.target.relevance_text if plan.order else ""
        if not text:
            return keys
        said = keys[self._matches(text, keys) >= _SAID]
        described = len(text.split()) > 1 and self.text is not None and bool(self.vectors.kinds)
        return said if len(said) or described else keys

    def _covered(self, text: str, keys: Keys) -> Numbers:
        """Return for each key `words` × the squared coverage of a residual text by the node's document."""
        if self.text is None or not self.words:
            return np.zeros(len(keys))
        return self.words * squared_coverage(self.text, text, keys)

    def _matches(self, text: str, keys: Keys) -> Numbers:
        """Return for each key its BM25 score for a residual text, divided by the best score of these keys."""
        if self.text is None or not len(keys):
            return np.zeros(len(keys))
        _, found = self.text.word_scores(text, keys.astype(np.int32))
        scores: Numbers = found.sum(axis=0).astype(np.float64)
        return scores / (scores.max(initial=0.0) or 1.0)


_NOTHING = Scores(np.empty(0, np.int64), np.empty(0))


def _scores(plan: Plan, traversal: Traversal) -> Scores:
    """Return the anchor scores of a traversal, 1 for each candidate of a plan without anchors."""
    found = CandidateArrays.of(traversal.candidates)
    return Scores.unordered(found.node_keys, found.scores if plan.anchors else np.ones(len(found)))


def _sum(parts: Mapping[int, Scores]) -> Scores:
    """Return for each candidate the sum of its parts."""
    keys = np.unique(np.concatenate([part.order for part in parts.values()])) if parts else _NOTHING.order
    numbers = np.zeros(len(keys))
    for part in parts.values():
        numbers[keys.searchsorted(part.order)] += part.numbers
    return Scores(keys, numbers)


def _in_order(
    best: LinkedPlan, found: Sequence[Traversal], merged: Scores, parts: Mapping[int, Scores], said: Keys
) -> tuple[Scores, dict[int, Scores]]:
    """Return the scores and parts in which the candidates that the best plan's order has placed score by their place.

    Other plans have no part in these. Only nodes among `said` are put in order; the others follow.
    """
    placed = next((one.placed for one in found if one.plan_index == best.index), {})
    order = Scores.of({key: one.place for key, one in placed.items()})
    ordered = np.isin(order.order, said)
    order = Scores(order.order[ordered], order.numbers[ordered])
    if not order:
        return merged, dict(parts)
    highest = float(np.abs(merged.numbers).max(initial=0.0)) + 1.0
    at = merged.order.searchsorted(order.order)
    numbers = merged.numbers.copy()
    # Less than one step between places, so that it orders equal places only.
    numbers[at] = ORDERED + order.numbers.max() - order.numbers + merged.numbers[at] / (2 * highest)
    whole = Scores(merged.order, numbers)
    told = {}
    for index, part in parts.items():
        held = np.isin(part.order, order.order)
        if index == best.index:
            told[index] = Scores(part.order, np.where(held, whole.known(part.order), part.numbers))
        else:
            told[index] = Scores(part.order[~held], part.numbers[~held])
    return whole, told


def _left_out(plan: Plan) -> bool:
    """Whether the graph's answer to a plan is ignored: the plan says `skip`, or documents answer it instead."""
    return plan.retrieval_mode == "skip" or plan.searches_documents


def _best(plans: Sequence[LinkedPlan], scores_of: Mapping[int, Scores]) -> LinkedPlan:
    """Return the most probable plan that found something."""
    return next(linked for linked in _by_probability(plans) if scores_of.get(linked.index))


def _refuted(plans: Sequence[LinkedPlan], found: Sequence[Traversal]) -> float:
    """Return the sum of the probabilities of the plans that were executed completely and found nothing.

    The other plans share this probability, so a plan that finds nothing does not lower the certainty of one that does.
    """
    empty = {one.plan_index for one in found if not one.candidates and not one.truncated}
    return sum(linked.probability for linked in plans if linked.index in empty and not _left_out(linked.plan))


def _risk(plans: Sequence[LinkedPlan], best: LinkedPlan) -> Risk:
    """Return the best plan's risk level, one level more careful if a more probable plan found nothing.

    More probable plans that the graph does not execute do not count, because the risk level already accounts for them.
    """
    level = RISKS.index(best.plan.risk_level)
    ordered = _by_probability(plans)
    ahead = ordered[: ordered.index(best)]
    return (
        RISKS[max(0, level - 1)] if any(one.plan.anchors or one.plan.runs_over_type for one in ahead) else RISKS[level]
    )


def _by_probability(plans: Sequence[LinkedPlan]) -> list[LinkedPlan]:
    return sorted(plans, key=lambda linked: (-linked.probability, linked.index))
