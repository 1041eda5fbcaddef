"""Checks which conditions of its plan each of the first candidates of the fused list meets (new against GRASP)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from search.domain.conditions import CheckedConditions, Conditions
from search.domain.errors import StageError
from search.domain.evidence import ConditionStatus, OrderEvidence
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking, LinkedPlan, Traversal
from search.domain.options import option
from search.domain.plan import Count, EdgeField, Plan, walks
from search.domain.question import Question
from search.domain.ranking import RECORDED_ENTRIES, CandidateArrays
from search.domain.shown import most_probable_found
from search.domain.trace import Limit
from search.interfaces import GraphStore


@dataclass(frozen=True)
class Check:
    """Checks the first candidates against the plans that found them; all candidates of one plan together.

    The evidence is of the plan that is shown: what that plan found, or leaves out by an exclusion, is checked against
    it, and what no plan found. For ranking, a candidate that several plans found is checked against the plan with the
    largest share in its score. A candidate that no plan found is checked against the plan that ordered the top of the
    graph's list. The traversal of a plan already says which nodes match the whole plan. The graph is queried only if
    the traversal was cut, and for the parts of the plan that the other candidates may meet: one statement for each
    part.
    """

    graph: GraphStore
    depth: int = option(RECORDED_ENTRIES, "Number of first possible answers that are checked.", low=1, high=1_000)
    seconds: float = option(
        1.0, "Time limit of all checks, in seconds. Conditions not checked by then are unknown.", low=0.01, high=600
    )

    @property
    def backend(self) -> str:
        """The name of the graph's engine, for the trace."""
        return self.graph.backend

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], graph: GraphRanking, limit: Limit
    ) -> CheckedConditions:
        """Return the conditions of the first `depth` candidates, or of the first `question.k` if that is more."""
        if not plans:
            return CheckedConditions()
        limit = limit.at_most(self.seconds)
        by_index = {linked.index: linked for linked in plans}
        found = {traversal.plan_index: traversal for traversal in graph.found}
        leading = plans[0].index if graph.leading is None else graph.leading
        keys = fusion.ranking.keys[: max(self.depth, question.k)]
        shares = dict(zip(keys, graph.shares(keys), strict=True))
        plan_of = {key: several[0].plan_index if several else leading for key, several in shares.items()}
        conditions: dict[int, Conditions] = {}
        problems: list[str] = []
        for index in dict.fromkeys(plan_of.values()):
            own = [key for key in keys if plan_of[key] == index]
            asked = _Asked(self.graph, by_index[index], found.get(index), own, limit, problems)
            conditions |= {key: replace(held, plans=shares[key]) for key, held in asked.conditions().items()}
        shown = most_probable_found(
            ((one.index, one.probability, one.plan) for one in plans),
            {index: traversal.total for index, traversal in found.items()},
        )
        of_shown: dict[int, Conditions] = {}
        if shown is not None:
            others = [key for key in keys if plan_of[key] != shown]
            unfound = [key for key in others if not shares[key]]
            asked = _Asked(self.graph, by_index[shown], found[shown], others, limit, problems)
            of_shown = {key: replace(held, plans=shares[key]) for key, held in asked.concerned(unfound).items()}
        told = " ".join(dict.fromkeys(problems))
        return CheckedConditions({key: conditions[key] for key in keys}, leading, told, of_shown)


@dataclass
class _Asked:
    """One plan, its candidates and the known results of its parts; the graph is queried once for each part."""

    graph: GraphStore
    linked: LinkedPlan
    found: Traversal | None
    keys: Sequence[int]
    limit: Limit
    problems: list[str]
    known: list[tuple[Plan, Mapping[int, ConditionStatus]]] = field(default_factory=list)

    def conditions(self) -> dict[int, Conditions]:
        """Return the conditions of each candidate by key; a candidate that matches the whole plan meets all of them."""
        plan, whole = self.linked.plan, self._whole()
        others = [key for key in self.keys if whole[key] != "met"]
        # If the only condition of a plan is one anchor, the walk of this anchor equals the plan and needs no query.
        self.known.append((plan, whole))
        anchors = {a.var: self._any([walks.of_anchor(plan, a.var)], others) for a in plan.anchors}
        hops = [self._any(walks.of_hop(plan, hop), others) for hop in plan.hops]
        filters = [self._any(walks.of_filter(plan, condition), others) for condition in plan.filters]
        exclude = [self._exclusion(index, others) for index in range(len(plan.exclude))]
        order = self._order(whole)
        return {
            key: Conditions(
                self.linked.index,
                whole[key],
                tuple((var, status.get(key, "met")) for var, status in anchors.items()),
                tuple(status.get(key, "met") for status in hops),
                tuple(status.get(key, "met") for status in filters),
                exclude=tuple(status.get(key, "met") for status in exclude),
                order=order.get(key),
            )
            for key in self.keys
        }

    def concerned(self, unfound: Collection[int]) -> dict[int, Conditions]:
        """Return the conditions of the candidates that the plan found, and of those that its exclusions leave out.

        Those that no plan found (`unfound`) are among them.
        """
        whole, plan = self._whole(), self.linked.plan
        others = [key for key in self.keys if whole[key] != "met"]
        excluded = {key for at in range(len(plan.exclude)) for key, one in self._exclusion(at, others).items()
                    if one == "not_met"}  # fmt: skip
        keys = [key for key in self.keys if whole[key] == "met" or key in excluded or key in unfound]
        return replace(self, keys=keys, known=[]).conditions() if keys else {}

    def _exclusion(self, index: int, others: Sequence[int]) -> dict[int, ConditionStatus]:
        """Return the status of an exclusion for the keys whose status does not follow from the whole plan.

        If nothing was found for an anchor of the exclusion, nobody can say whether it is met.
        """
        if not self.linked.is_known(index):
            return dict.fromkeys(self.keys, "unknown")
        return self._any(walks.of_exclusion(self.linked.plan, self.linked.plan.exclude[index]), others)

    def _order(self, whole: Mapping[int, ConditionStatus]) -> dict[int, OrderEvidence]:
        """Return for each key what the plan's order compares, and whether the order keeps the key."""
        order = self.linked.plan.order
        if order is None or not self.keys:
            return {}
        placed = self.found.placed if self.found else {}
        held: dict[int, OrderEvidence] = {
            key: OrderEvidence("met", placed[key].value, placed[key].place) for key in self.keys if key in placed
        }
        others = [key for key in self.keys if key not in placed]
        # What counts or edges to other nodes of the plan have is of no interest for what the plan does not find.
        among = isinstance(order.by, EdgeField) or (isinstance(order.by, Count) and bool(order.by.among))
        try:
            values = self.graph.order_values(order, others, self.limit) if others and not among else {}
        except StageError as error:
            self.problems.append(f"Conditions could not be checked: {error.reason}.")
            return held | {key: OrderEvidence("unknown") for key in others}
        for key in others:
            status: ConditionStatus = "unknown" if whole[key] == "unknown" else "not_met"
            held[key] = OrderEvidence(status, values.get(key))
        return held

    def _whole(self) -> Mapping[int, ConditionStatus]:
        """Return for each key whether it matches the whole plan.

        The candidates of the traversal do. For the other keys the graph is queried if the traversal was cut or is
        missing; else they do not match. For a plan that was not executed the graph is queried for all keys. Whether the
        limit of an order keeps a key is known only from a whole traversal.
        """
        plan = self.linked.plan
        if not plan.anchors and self.found is None:
            return self._matching(plan, self.keys)
        listed = self._listed()
        status: dict[int, ConditionStatus] = {key: "met" if key in listed else "not_met" for key in self.keys}
        if self.found is None or self.found.truncated:
            asked = self._matching(plan, [key for key in self.keys if key not in listed])
            limited = plan.order is not None and plan.order.limit is not None
            status |= {key: "unknown" if limited and one == "met" else one for key, one in asked.items()}
        return status

    def _listed(self) -> set[int]:
        """Return those of the keys that are candidates of the traversal."""
        found = CandidateArrays.of(self.found.candidates).node_keys if self.found else np.empty(0, np.int64)
        keys = np.array(self.keys, dtype=np.int64)
        return set(keys[np.isin(keys, found)].tolist())

    def _any(self, parts: Iterable[Plan], keys: Sequence[int]) -> dict[int, ConditionStatus]:
        """Return for each key whether it meets at least one of some parts of the plan."""
        several = [self._known(part, keys) for part in parts]
        found: dict[int, ConditionStatus] = {}
        for key in keys:
            states = {one[key] for one in several}
            found[key] = "met" if "met" in states else "unknown" if "unknown" in states else "not_met"
        return found

    def _known(self, part: Plan, keys: Sequence[int]) -> Mapping[int, ConditionStatus]:
        for asked, status in self.known:
            if asked == part:
                return status
        self.known.append((part, self._matching(part, keys)))
        return self.known[-1][1]

    def _matching(self, part: Plan, keys: Sequence[int]) -> dict[int, ConditionStatus]:
        """Return for each key whether the graph matches it to a part of the plan; `unknown` if the query fails."""
        if not keys:
            return {}
        held = {anchor.var for anchor in part.anchors}
        at = {self.linked.plan.exclude.index(exclusion): place for place, exclusion in enumerate(part.exclude)}
        bindings = tuple(
            binding if binding.exclusion is None else replace(binding, exclusion=at[binding.exclusion])
            for binding in self.linked.bindings
            if (binding.var in held if binding.exclusion is None else binding.exclusion in at)
        )
        try:
            found = self.graph.matching(replace(self.linked, plan=part, bindings=bindings), keys, self.limit)
        except StageError as error:
            self.problems.append(f"Conditions could not be checked: {error.reason}.")
            return dict.fromkeys(keys, "unknown")
        return {key: "met" if key in found else "not_met" for key in keys}
