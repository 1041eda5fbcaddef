"""The planner that needs no language model: it lists, executes and scores plans (docs/planning.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from search.domain.errors import StageError
from search.domain.graph import Schema
from search.domain.linking import Binding, LinkedPlan
from search.domain.options import option
from search.domain.plan import Filter, Plan, PlanSource, ScoredPlan, Target
from search.domain.question import Question
from search.domain.trace import Limit, StepOutput
from search.interfaces import Adjacency, Encoder, GraphStore, MentionIndex, NodeStore, PlanScorers
from search.language.quantities import Quantity, quantities
from search.language.question import AnalysedQuestion as Read
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.enumeration.propose import Proposer
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.limits import FilterOutcome, FilterProbe, Limiter, YearFields
from search.stages.plan.scoring.features import Features
from search.stages.plan.scoring.learned import LearnedScorer, mapped_paths, unusable
from search.stages.plan.scoring.risk import explained, level, residual
from search.stages.plan.scoring.score import EVIDENCE, Scored, Scorer
from search.stages.plan.scoring.target import answer_types
from search.stages.plan.write import Writer

_BELIEVED = 0.05
"""Least probability of a plan for which filters are searched: a less probable plan adds almost nothing."""
_MEANT = 0.9
"""Probability that a quantity was meant as the filter that was read from it."""


@dataclass(frozen=True)
class Planner:
    """Question → plans, best first, with probabilities that sum to 1 over the list.

    `graph` says whether any node passes a filter; without it, no quantity becomes a filter.
    """

    mentions: MentionIndex
    adjacency: Adjacency
    encoder: Encoder
    nodes: NodeStore
    schema: Schema
    plan_scorers: PlanScorers | None = None
    graph: GraphStore | None = None
    plans: int = option(10, "Largest number of plans executed for a question.", low=1, high=50, public_high=20)
    least: float = option(0.002, "Plans less probable than this are not executed, except the best.", low=0.0, high=1.0)
    max_hops: int = option(3, "Largest number of hops from a mention to the answer.", low=1, high=4, public_high=3)
    max_mentions: int = option(5, "Largest number of mentions that plans start from.", low=1, high=12, public_high=8)
    evidence: str = option(
        "both",
        "What plans are scored by: single words of the question, the plan's wording as a whole, or both.",
        choices=tuple(EVIDENCE),
    )
    temperature: float = option(1.0, "A value above 1 spreads the probability over more plans.", low=0.1, high=10.0)
    artifact: str = option(
        "",
        "Name of the trained planner (made by `train planner`) that scores the plans; empty for none.",
        staff_only=True,
    )
    fold: int = option(
        -1,
        "Score with the trained planner that was fitted without this fold of its questions; -1 for all questions. "
        "For measuring on questions that it has learned from.",
        low=-1,
        high=19,
        staff_only=True,
    )
    filters: bool = option(True, "Whether years, prices and amounts in a question become filters.")

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        """Return at least one plan; the plan without hops when the question names no node.

        When the question brings its own plan, that plan is returned unchanged.

        Raises DeadlineExceeded or SearchCancelled.
        """
        if question.plan is not None:
            return [ScoredPlan(question.plan, "user", 1.0)]
        read = self.proposer.read(question.text)
        candidates = self.proposer.candidates(read.names, limit)
        limit.check("plan")
        scored = self._scored(read, candidates)
        best = self._settled(scored.candidates)
        limit.check("plan")
        listed = self._listed(question.text, read, best, scored, limit)
        said = " ".join(filter(None, [scored.note, listed.detail]))
        return StepOutput(listed, said, "degraded" if scored.degraded else "ok")

    def _scored(self, read: Read, candidates: Sequence[PlanCandidate]) -> Scored:
        """Return the candidates scored by the trained planner, or by constants where it is not set or not usable."""
        if not self.artifact:
            return self._scorer(read, candidates)
        try:
            return self._learned(read, candidates)
        except StageError as error:
            note = f"Plans are scored without the trained planner: {error.reason}."
            return replace(self._scorer(read, candidates), note=note, degraded=True)

    def _settled(self, best: Sequence[tuple[PlanCandidate, float]]) -> list[tuple[PlanCandidate, float]]:
        """Return the first candidates that find at least one node, at most `plans` of them."""
        found: list[tuple[PlanCandidate, float]] = []
        for candidate, total in best:
            settled = self.proposer.enumerator.settle(candidate)
            if settled is not None:
                found.append((settled, total))
            if len(found) == self.plans:
                break
        return found

    def _listed(
        self, whole: str, read: Read, best: Sequence[tuple[PlanCandidate, float]], scored: Scored, limit: Limit
    ) -> StepOutput[ScoredPlan]:
        """Return the best plans as plans of the domain, with the plan without hops among them by its probability.

        The detail names the quantities of the question that are not filters of the best plan, and why.
        """
        sums = np.array([*(total for _, total in best), scored.text]) / self.temperature
        order = np.argsort(-sums, kind="stable")[: self.plans]
        shares = np.exp(sums[order] - sums[order[0]])
        shares /= shares.sum()
        believed = shares >= min(self.least, shares[0])
        order, shares = order[believed], shares[believed] / shares[believed].sum()
        listed: list[ScoredPlan] = []
        note = ""
        said = quantities(read.text) if self.filters and self.graph is not None else []
        for position, at in enumerate(order):
            probability = float(shares[position])
            if at == len(best):
                listed.append(ScoredPlan(self._without_hops(whole, read), scored.source, probability))
                continue
            # Only one plan can be right. The first has the second as its rival, every other one has the first.
            rival = float(shares[0 if position else 1]) if len(shares) > 1 else 0.0
            meanings = self._meanings(read, said, best[at][0], probability, rival, scored.source, limit)
            listed += meanings
            note = note if position else meanings.detail
        return StepOutput(sorted(listed, key=lambda entry: -entry.probability), note)

    def _meanings(
        self,
        read: Read,
        said: Sequence[Quantity],
        candidate: PlanCandidate,
        probability: float,
        rival: float,
        source: PlanSource,
        limit: Limit,
    ) -> StepOutput[ScoredPlan]:
        """Return the plan with the filters of the question's quantities, then the plan without filters.

        A quantity may not have been meant as a filter, so the plan without filters keeps a part of the probability.
        Without a filter, only the plan itself is returned.
        """
        plain = ScoredPlan(self._with_hops(read, candidate, probability, rival, source), source, probability)
        if not said or probability < _BELIEVED:
            return StepOutput([plain])
        limits = self._limiter.of(read, said, candidate, self._fits(plain.plan, limit))
        note = " ".join(limits.notes)
        if not limits.filters:
            return StepOutput([plain], note)
        plan = self._with_hops(read, candidate, probability, rival, source, limits.spans)
        filtered = ScoredPlan(replace(plan, filters=limits.filters), source, _MEANT * probability)
        return StepOutput([filtered, replace(plain, probability=(1 - _MEANT) * probability)], note)

    def _fits(self, plan: Plan, limit: Limit) -> FilterProbe:
        """Return a callable that asks the engine whether any node that the plan finds passes given filters."""
        graph = self.graph
        if graph is None:
            raise ValueError("there is no engine that could be asked about filters")
        ids = [node_id for anchor in plan.anchors for node_id in anchor.ids]
        nodes = iter(self.nodes.references([key for key in self.nodes.keys(ids) if key is not None]))
        bindings = tuple(Binding(anchor.var, next(nodes), 1.0) for anchor in plan.anchors for _ in anchor.ids)

        def fits(filters: tuple[Filter, ...]) -> FilterOutcome:
            found = graph.execute(LinkedPlan(replace(plan, filters=filters), bindings), limit, rows=1)
            return "some" if found.candidates else "cut" if found.truncated else "none"

        return fits

    def _with_hops(
        self,
        read: Read,
        candidate: PlanCandidate,
        probability: float,
        rival: float,
        source: PlanSource,
        said: Sequence[tuple[int, int]] = (),
    ) -> Plan:
        left = residual(read, candidate.mentions, candidate.paths, self.knowledge.lexicon, said)
        # The probability of a trained planner already includes how many of the answers the graph gives.
        share = 1.0 if source == "learned" else explained(read, candidate.mentions, left)
        risk = level(probability, rival, share)
        return self._writer.plan(candidate, read.names, left, risk)

    def _without_hops(self, whole: str, read: Read) -> Plan:
        """Return the plan that leaves the question to text: no anchor, `no_trade`, the answer type if it is clear."""
        fit = answer_types(read.without(tuple(range(len(read.names)))), self.knowledge.lexicon)
        labels = tuple(
            node_type.name
            for code, node_type in enumerate(self.schema.node_types)
            if fit[code] >= 1.0 and code in self.knowledge.answerable
        )
        return Plan(target=Target("T", labels, whole.strip()), risk_level="no_trade")

    @cached_property
    def knowledge(self) -> Knowledge:
        """The knowledge of the schema and its words."""
        return Knowledge.of(self.schema, self.encoder)

    @cached_property
    def proposer(self) -> Proposer:
        """The tool that reads questions and lists candidate plans."""
        return Proposer(
            self.mentions, self.adjacency, self.nodes, self.knowledge, self.max_hops, self.max_mentions
        )  # fmt: skip

    @cached_property
    def _scorer(self) -> Scorer:
        known = self.knowledge
        features = Features(known.shape, known.lexicon)
        return Scorer(features, known.wording, known.vectors, EVIDENCE[self.evidence])

    @cached_property
    def _learned(self) -> LearnedScorer:
        """The scorer with the trained artifact. Raises StageError when the artifact cannot be used."""
        if self.plan_scorers is None:
            raise StageError("plan", "this site reads no artifacts", permanent=True)
        known, scorer = self.knowledge, self.plan_scorers.get(self.artifact, self.fold)
        if reason := unusable(scorer, self.encoder.name):
            raise StageError("plan", reason, permanent=True)
        return LearnedScorer(Features(known.shape, known.lexicon), known.vectors, scorer, mapped_paths(scorer, known))

    @cached_property
    def _limiter(self) -> Limiter:
        return Limiter(self.schema, self.knowledge.kept(YearFields, lambda: YearFields(self.nodes)))

    @cached_property
    def _writer(self) -> Writer:
        return Writer(self.nodes, self.knowledge.shape)
