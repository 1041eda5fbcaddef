"""The meanings of a question that find the expected answers, and the best of them with its probability and rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

import numpy as np

from search.domain.plan import Plan
from search.domain.ranking import in_order_of
from search.domain.trace import Limit
from search.interfaces import VectorIndex
from search.stages.plan import Planner
from search.stages.plan.read import Tried, shared
from training.evaluation.lost.attribution import PossiblePlan
from training.evaluation.lost.facts import Held, LostWay, LostWays
from training.evaluation.lost.rules import COMPARABLE
from training.evaluation.lost.search_tools import SearchTools

MOST_TRIED = 60
"""Most meanings of a question that are executed; a search executes fewer."""
_NAMELESS = "The question names no node of the knowledge base, so there is no plan to start from."
_NO_WAY = "No plan that starts from the names in the question finds an expected answer."


@dataclass(frozen=True, eq=False)
class _Found:
    """A meaning, those of the expected answers that it finds, and the F1 of all that it finds."""

    tried: Tried
    hits: tuple[int, ...]
    f1: float


@dataclass(frozen=True)
class WaySearch:
    """Reads a question as the planner does, tries more of its meanings, and keeps those that find expected answers."""

    planner: Planner
    vectors: VectorIndex

    def __call__(
        self, text: str, answers: Mapping[str, int], executed: Sequence[Plan], limit: Limit
    ) -> tuple[LostWays, PossiblePlan | None, str]:
        """Return the ways to the answers (id → key), the best plan for all of them, and a sentence if there is none.

        `executed` are the plans of the search, to recognise the best plan among them. Raises StageError,
        DeadlineExceeded and SearchCancelled.
        """
        read = replace(self.planner.reader, tried=MOST_TRIED).read(text, limit)
        found = sorted(self._finding(read, answers), key=lambda one: -one.f1)
        if found:
            return LostWays(self._ways(found, answers, text)), self._possible(read, found[0], executed), ""
        if not any(one.plan.anchors for one in read):
            return LostWays(named=False), None, _NAMELESS
        return LostWays(), None, _NO_WAY

    def _finding(self, read: Sequence[Tried], answers: Mapping[str, int]) -> list[_Found]:
        """Return the meanings that find answers, in the order of their scores."""
        keys = np.array(sorted(answers.values()), dtype=np.int32)
        finding = []
        for one in read:
            if one.asked is None or not _says(one.plan):
                # All nodes of a type, or all with some neighbour, hold every answer and say nothing of it.
                continue
            hits = np.intersect1d(one.found, keys)
            if len(hits):
                finding.append(_Found(one, tuple(hits.tolist()), 2 * len(hits) / (len(one.found) + len(keys))))
        return finding

    def _ways(self, found: Sequence[_Found], answers: Mapping[str, int], text: str) -> tuple[LostWay, ...]:
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
            anchors = one.tried.plan.anchors
            starts = tuple(frozenset(anchor.ids) for anchor in anchors if anchor.ids)
            names = tuple(f"“{anchor.text}” ({anchor.label})" for anchor in anchors)
            if not names:
                names = (f"all nodes of the type {' or '.join(one.tried.plan.target.labels)}",)
            way = LostWay(starts, names, frozenset(ids[key] for key in one.hits), one.f1, len(one.tried.found))
            ways.append(replace(way, places=self._places(one, ids, text)) if id(one) in first else way)
        return tuple(ways)

    def _places(self, one: _Found, ids: Mapping[int, str], text: str) -> Mapping[str, int]:
        """Return the place of each answer in the list of a plan alone, in the order of the question's cosine."""
        keys = one.tried.found.tolist()
        cosines = self.vectors.cosines(self.planner.encoder.encode([text])[0], keys)
        order = in_order_of(cosines, keys)
        ranks = {ids[key]: rank for rank, key in enumerate(order, 1) if key in ids}
        return Held("", ranks, len(order)).places

    def _possible(self, read: Sequence[Tried], best: _Found, executed: Sequence[Plan]) -> PossiblePlan:
        plan = best.tried.plan
        same = [at for at, one in enumerate(executed) if (one.anchors, one.hops) == (plan.anchors, plan.hops)]
        probability, rank = self._standing(read, best.tried)
        return PossiblePlan(
            plan, round(best.f1, 4), len(best.tried.found), len(best.hits), probability, rank, same[0] if same else None
        )

    def _standing(self, read: Sequence[Tried], best: Tried) -> tuple[float | None, int | None]:
        """Return probability and rank of a meaning among all that were tried; those that find the same count as one."""
        weighed = shared(read, self.planner.temperature)
        for place, (one, share) in enumerate(weighed, 1):
            if one is best or (
                (one.plan.ask, one.left) == (best.plan.ask, best.left) and np.array_equal(one.found, best.found)
            ):
                return round(share, 6), place
        return None, None


def _says(plan: Plan) -> bool:
    """Whether a plan says more than types and relations: a name, a value, or an order."""
    return bool(plan.anchors or plan.order) or any(one.field and one.op != "exists" for one in plan.filters)


def way_search(stages: object, tools: SearchTools) -> WaySearch:
    """Return the search for ways: by the planner of the stages, or by one that has learned nothing if there is none."""
    planner = _planner(stages) or Planner(
        tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema, tools.columns
    )
    return WaySearch(planner, tools.vectors)


def _planner(stage: object) -> Planner | None:
    """Return the planner that reads questions: a stage, or an inner stage of one; None if there is none."""
    if isinstance(stage, Planner):
        return stage
    if not is_dataclass(stage):
        return None
    inner = (getattr(stage, field.name) for field in fields(stage))
    return next((found for one in inner if is_dataclass(one) and (found := _planner(one)) is not None), None)
