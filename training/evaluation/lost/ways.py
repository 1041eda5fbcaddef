"""The enumerated plans that find the expected answers, and the best of them with its probability and rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import islice

import numpy as np

from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Plan
from search.domain.ranking import in_order_of
from search.domain.trace import Limit
from search.interfaces import GraphStore, Keys, VectorIndex
from search.language.question import AnalysedQuestion
from search.stages.plan import Planner
from search.stages.plan.enumeration.enumerate import PlanCandidate, Start
from search.stages.plan.scoring.score import Scored
from search.stages.plan.write import Writer
from training.evaluation.lost.attribution import PossiblePlan
from training.evaluation.lost.facts import Held, Way, Ways
from training.evaluation.lost.rules import COMPARABLE
from training.evaluation.lost.search_tools import SearchTools
from training.evaluation.plan_answers import AnswerFilter

MOST_UNREAD = 20
"""Number of walks with too many edges to read that are checked in the graph; with more, some plans stay unknown."""
_NAMELESS = "The question names no node of the knowledge base, so there is no plan to start from."
_NO_WAY = "No plan that starts from the names in the question finds an expected answer."


@dataclass(frozen=True, eq=False)
class _Found:
    """A candidate plan, the nodes that it finds, and those of them that are expected."""

    candidate: PlanCandidate
    keys: Keys
    hits: tuple[int, ...]
    f1: float


@dataclass(frozen=True)
class WaySearch:
    """Lists the plans of a question as the planner does, and keeps those that find expected answers."""

    planner: Planner
    graph: GraphStore
    vectors: VectorIndex

    def __call__(
        self, text: str, answers: Mapping[str, int], executed: Sequence[Plan], limit: Limit
    ) -> tuple[Ways, PossiblePlan | None, str]:
        """Return the ways to the answers (id → key), the best plan for all of them, and a sentence if there is none.

        `executed` are the plans of the search, to recognise the best plan among them. Raises StageError,
        DeadlineExceeded and SearchCancelled.
        """
        read = self.planner.proposer.read(text)
        if not read.names:
            return Ways(named=False), None, _NAMELESS
        candidates = self.planner.proposer.candidates(read, limit)
        found, unread = self._finding(candidates, answers)
        missing = set(answers.values()) - {key for one in found for key in one.hits}
        checked, unsure = self._checked(read, unread, missing, limit) if missing and unread else ([], "")
        found += checked
        if not found:
            return Ways(unsure=unsure), None, unsure or _NO_WAY
        scored = self.planner.scored(read, candidates)
        order = {id(candidate): place for place, (candidate, _) in enumerate(scored.candidates)}
        found.sort(key=lambda one: (-one.f1, order.get(id(one.candidate), len(order)), len(one.candidate.paths)))
        best = self._possible(read, found[0], scored, executed)
        return Ways(self._ways(read, found, answers, text), unsure=unsure), best, ""

    def _finding(
        self, candidates: Sequence[PlanCandidate], answers: Mapping[str, int]
    ) -> tuple[list[_Found], list[PlanCandidate]]:
        """Return the candidates that find answers, and those that were not read completely and find none."""
        keys = np.array(sorted(answers.values()), dtype=np.int32)
        known, walk = AnswerFilter(self.planner.adjacency, keys), self.planner.proposer.enumerator.found
        finding: list[_Found] = []
        unread: list[PlanCandidate] = []
        for candidate in candidates:
            if not known.misses(candidate):
                found = walk(candidate)
                hits = np.intersect1d(found, keys, assume_unique=True)
                if len(hits):
                    f1 = 2 * len(hits) / (len(found) + len(keys))
                    finding.append(_Found(candidate, found, tuple(hits.tolist()), f1))
                    continue
            if not all(branch.whole for branch in candidate.branches):
                unread.append(candidate)
        return finding, unread

    def _checked(
        self, read: AnalysedQuestion, unread: Sequence[PlanCandidate], missing: set[int], limit: Limit
    ) -> tuple[list[_Found], str]:
        """Return those incompletely read candidates that find missing answers, as the graph says."""
        found = []
        for candidate in islice(unread, MOST_UNREAD):
            plan = self._written(read, candidate)
            starts = (key for branch in candidate.branches for key in branch.start.keys)
            nodes = iter(self.planner.nodes.references(list(starts)))
            bindings = tuple(Binding(anchor.var, next(nodes), 1.0) for anchor in plan.anchors for _ in anchor.ids)
            hits = self.graph.matching(LinkedPlan(plan, bindings), sorted(missing), limit)
            if hits:
                found.append(_Found(candidate, np.zeros(0, np.int32), tuple(sorted(hits)), 0.0))
        more = len(unread) - MOST_UNREAD
        unsure = f"{more} walks have too many edges to be read completely, and were not checked." if more > 0 else ""
        return found, unsure

    def _ways(
        self, read: AnalysedQuestion, found: Sequence[_Found], answers: Mapping[str, int], text: str
    ) -> tuple[Way, ...]:
        """Return the ways that are the best for one of their answers, or comparable with the best; best first."""
        best: dict[int, _Found] = {}
        for one in found:
            for key in one.hits:
                best.setdefault(key, one)
        kept = [one for one in found if any(one.f1 >= COMPARABLE * best[key].f1 for key in one.hits)]
        first = {id(one) for one in best.values()}
        ids = {key: identifier for identifier, key in answers.items()}
        ways = []
        for one in kept:
            starts = tuple(frozenset(self.planner.nodes.ids(b.start.keys)) for b in one.candidate.branches)
            names = tuple(self._named(read, branch.start) for branch in one.candidate.branches)
            way = Way(starts, names, frozenset(ids[key] for key in one.hits), one.f1, len(one.keys))
            ways.append(replace(way, places=self._places(one, ids, text)) if id(one) in first else way)
        return tuple(ways)

    def _named(self, read: AnalysedQuestion, start: Start) -> str:
        kind = self.planner.schema.node_types[start.node_type].name
        return f"“{read.names[start.mention].mention.text}” ({kind})"

    def _places(self, one: _Found, ids: Mapping[int, str], text: str) -> Mapping[str, int]:
        """Return the place of each answer in the list of a plan alone, in the order of the question's cosine."""
        cosines = self.vectors.cosines(self.planner.encoder.encode([text])[0], one.keys.tolist())
        order = in_order_of(cosines, one.keys.tolist())
        ranks = {ids[key]: rank for rank, key in enumerate(order, 1) if key in ids}
        return Held("", ranks, len(order)).places

    def _possible(self, read: AnalysedQuestion, best: _Found, scored: Scored, executed: Sequence[Plan]) -> PossiblePlan:
        plan = self._written(read, best.candidate)
        same = [at for at, one in enumerate(executed) if (one.anchors, one.hops) == (plan.anchors, plan.hops)]
        probability, rank = self._standing(best.candidate, scored)
        return PossiblePlan(
            plan, round(best.f1, 4), len(best.keys), len(best.hits), probability, rank, same[0] if same else None
        )

    def _standing(self, best: PlanCandidate, scored: Scored) -> tuple[float | None, int | None]:
        """Return probability and rank of a candidate among all scored plans that find a node; None if it has no score.

        The probabilities of these plans and of the plan without hops sum to 1.
        """
        settle = self.planner.proposer.enumerator.settle
        sums = [(candidate, total) for candidate, total in scored.candidates if settle(candidate) is not None]
        place = next((at for at, (candidate, _) in enumerate(sums) if candidate is best), None)
        if place is None:
            return None, None
        scaled = np.array([*(total for _, total in sums), scored.text]) / self.planner.temperature
        shares = np.exp(scaled - scaled.max())
        return round(float(shares[place] / shares.sum()), 6), place + 1

    def _written(self, read: AnalysedQuestion, candidate: PlanCandidate) -> Plan:
        settled = self.planner.proposer.enumerator.settle(candidate) or candidate
        return Writer(self.planner.nodes, self.planner.knowledge.shape).plan(settled, read.names, "", "normal")


def way_search(stages: object, tools: SearchTools) -> WaySearch:
    """Return the enumeration of a search: by its own planner, or by one that has learned nothing if it has none."""
    planner = _planner(stages) or Planner(tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema)
    return WaySearch(planner, tools.graph, tools.vectors)


def _planner(stage: object) -> Planner | None:
    """Return the planner that enumerates plans: a stage, or an inner stage of one; None if there is none."""
    if isinstance(stage, Planner):
        return stage
    if not is_dataclass(stage):
        return None
    inner = (getattr(stage, field.name) for field in fields(stage))
    return next((found for one in inner if is_dataclass(one) and (found := _planner(one)) is not None), None)
