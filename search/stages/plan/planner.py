"""The planner that needs no language model: plans are listed, executed and scored (METHODS, section 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from search.domain.graph import Schema
from search.domain.options import option
from search.domain.plan import Plan, ScoredPlan, Target
from search.domain.question import Question
from search.domain.trace import Limit
from search.interfaces import Adjacency, Encoder, MentionIndex, NodeStore
from search.stages.plan.enumerate import Candidate
from search.stages.plan.features import Features
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.propose import Proposer
from search.stages.plan.reading import Question as Read
from search.stages.plan.risk import explained, level, residual
from search.stages.plan.score import EVIDENCE, Scorer
from search.stages.plan.target import answer_types
from search.stages.plan.write import Writer


@dataclass(frozen=True)
class Planner:
    """Question → plans, best first, with probabilities that sum to 1 over the list."""

    mentions: MentionIndex
    adjacency: Adjacency
    encoder: Encoder
    nodes: NodeStore
    schema: Schema
    plans: int = option(10, "Plans that run for a question.", low=1, high=50)
    max_hops: int = option(3, "Hops from a mention to the answer at most.", low=1, high=4)
    max_mentions: int = option(5, "Mentions of a question that plans start from at most.", low=1, high=12)
    evidence: str = option(
        "both",
        "What plans are scored by: single words of the question, the plan's wording as a whole, or both.",
        choices=tuple(EVIDENCE),
    )
    temperature: float = option(1.0, "Above 1 spreads probability over more plans.", low=0.1, high=10.0)

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        """Return at least one plan; the plan with no hop when the question names nothing.

        A plan that the asker brings is returned as it is. Raises DeadlineExceeded or SearchCancelled.
        """
        if question.plan is not None:
            return [ScoredPlan(question.plan, "user", 1.0)]
        read = self._proposer.read(question.text)
        candidates = self._proposer.candidates(read.names, limit)
        limit.check("plan")
        scored = self._scorer(read, candidates)
        best = self._settled(scored.candidates)
        limit.check("plan")
        return self._listed(question.text, read, best, scored.text)

    def _settled(self, best: Sequence[tuple[Candidate, float]]) -> list[tuple[Candidate, float]]:
        """Return the first of these that find something, as many as are wanted."""
        found: list[tuple[Candidate, float]] = []
        for candidate, total in best:
            settled = self._proposer.enumerator.settle(candidate)
            if settled is not None:
                found.append((settled, total))
            if len(found) == self.plans:
                break
        return found

    def _listed(self, whole: str, read: Read, best: Sequence[tuple[Candidate, float]], text: float) -> list[ScoredPlan]:
        """Return the best plans as the domain writes them, the plan with no hop in its place among them."""
        sums = np.array([*(total for _, total in best), text]) / self.temperature
        order = np.argsort(-sums, kind="stable")[: self.plans]
        shares = np.exp(sums[order] - sums[order[0]])
        shares /= shares.sum()
        listed = []
        for position, at in enumerate(order):
            probability = float(shares[position])
            if at == len(best):
                plan = self._without_hops(whole, read)
            else:
                following = float(shares[position + 1]) if position + 1 < len(shares) else 0.0
                plan = self._with_hops(read, best[at][0], probability, following)
            listed.append(ScoredPlan(plan, "schema", probability))
        return listed

    def _with_hops(self, read: Read, candidate: Candidate, probability: float, following: float) -> Plan:
        left = residual(read, candidate.mentions, candidate.paths, self._knowledge.lexicon)
        risk = level(probability, following, explained(read, candidate.mentions, left))
        return self._writer.plan(candidate, read.names, left, risk)

    def _without_hops(self, whole: str, read: Read) -> Plan:
        """Return the plan that leaves the question to text: the answer type if it is plain, no anchor, no trade."""
        fit = answer_types(read.without(tuple(range(len(read.names)))), self._knowledge.lexicon)
        labels = tuple(
            node_type.name
            for code, node_type in enumerate(self.schema.node_types)
            if fit[code] >= 1.0 and code in self._knowledge.answerable
        )
        return Plan(target=Target("T", labels, whole.strip()), risk_level="no_trade")

    @cached_property
    def _knowledge(self) -> Knowledge:
        return Knowledge.of(self.schema, self.encoder)

    @cached_property
    def _proposer(self) -> Proposer:
        return Proposer(
            self.mentions, self.adjacency, self.nodes, self._knowledge, self.max_hops, self.max_mentions
        )  # fmt: skip

    @cached_property
    def _scorer(self) -> Scorer:
        known = self._knowledge
        features = Features(known.shape, known.lexicon)
        return Scorer(features, known.wording, known.vectors, EVIDENCE[self.evidence])

    @cached_property
    def _writer(self) -> Writer:
        return Writer(self.nodes, self._knowledge.shape)
