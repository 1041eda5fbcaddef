"""The fused list → which conditions of its plan each of the first candidates meets, before anything is shown (ours)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from search.domain.conditions import CheckedConditions, Conditions
from search.domain.errors import StageError
from search.domain.evidence import ConditionStatus
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking, LinkedPlan, Traversal
from search.domain.options import option
from search.domain.plan import Plan, walks
from search.domain.question import Question
from search.domain.ranking import RECORDED_ENTRIES
from search.domain.trace import Limit
from search.interfaces import GraphStore


@dataclass(frozen=True)
class Check:
    """Holds the first candidates against the plan that put them there, all of one plan together.

    A candidate that several plans found is held against the one with the largest share in its score, one that no plan
    found against the plan that ordered the top of the graph's list. Who matches a plan as a whole is known from its
    traversal; only where that was cut, and for the parts of a plan that the other candidates may meet, is the graph
    asked: one statement a part.
    """

    graph: GraphStore
    depth: int = option(RECORDED_ENTRIES, "How many of the first candidates are checked.", low=1, high=1_000)
    seconds: float = option(
        1.0, "How many seconds all checks may take; what is not checked by then is unknown.", low=0.01, high=600
    )

    @property
    def backend(self) -> str:
        """The engine, for the trace."""
        return self.graph.backend

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], graph: GraphRanking, limit: Limit
    ) -> CheckedConditions:
        """Return the conditions of the first `depth` candidates, or `question.k` where these are more."""
        if not plans:
            return CheckedConditions()
        limit = Limit.seconds(min(self.seconds, limit.remaining()), limit.cancelled)
        by_index = {linked.index: linked for linked in plans}
        found = {traversal.plan_index: traversal for traversal in graph.found}
        leading = plans[0].index if graph.leading is None else graph.leading
        keys = fusion.ranking.keys[: max(self.depth, question.k)]
        shares = {key: graph.shares(key) for key in keys}
        plan_of = {key: several[0].plan_index if several else leading for key, several in shares.items()}
        conditions: dict[int, Conditions] = {}
        problems: list[str] = []
        for index in dict.fromkeys(plan_of.values()):
            own = [key for key in keys if plan_of[key] == index]
            asked = _Asked(self.graph, by_index[index], found.get(index), own, limit, problems)
            conditions |= {key: replace(held, plans=shares[key]) for key, held in asked.conditions().items()}
        told = " ".join(dict.fromkeys(problems))
        return CheckedConditions({key: conditions[key] for key in keys}, leading, told)


@dataclass
class _Asked:
    """What is known of one plan and its candidates; each part of the plan is asked for once."""

    graph: GraphStore
    linked: LinkedPlan
    found: Traversal | None
    keys: Sequence[int]
    limit: Limit
    problems: list[str]
    known: list[tuple[Plan, Mapping[int, ConditionStatus]]] = field(default_factory=list)

    def conditions(self) -> dict[int, Conditions]:
        """Return every candidate's conditions; whoever meets the plan as a whole meets each of them."""
        plan, whole = self.linked.plan, self._whole()
        others = [key for key in self.keys if whole[key] != "met"]
        # A plan whose only condition is one anchor is that anchor's walk: nothing is left to ask.
        self.known.append((plan, whole))
        anchors = {a.var: self._any([walks.of_anchor(plan, a.var)], others) for a in plan.anchors}
        hops = [self._any(walks.of_hop(plan, hop), others) for hop in plan.hops]
        filters = [self._any(walks.of_filter(plan, condition), others) for condition in plan.filters]
        return {
            key: Conditions(
                self.linked.index,
                whole[key],
                tuple((var, status.get(key, "met")) for var, status in anchors.items()),
                tuple(status.get(key, "met") for status in hops),
                tuple(status.get(key, "met") for status in filters),
            )
            for key in self.keys
        }

    def _whole(self) -> Mapping[int, ConditionStatus]:
        """Return who matches the plan as it is: whom its traversal holds, and nobody else where that was not cut."""
        if not self.linked.plan.anchors:
            return self._matching(self.linked.plan, self.keys)
        listed = {candidate.key for candidate in self.found.candidates} if self.found else set()
        status: dict[int, ConditionStatus] = {key: "met" if key in listed else "not_met" for key in self.keys}
        if self.found is None or self.found.truncated:
            status |= self._matching(self.linked.plan, [key for key in self.keys if key not in listed])
        return status

    def _any(self, parts: Iterable[Plan], keys: Sequence[int]) -> dict[int, ConditionStatus]:
        """Return who meets any of some parts of the plan."""
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
        """Ask the graph who matches a part of the plan; unknown where it cannot say."""
        if not keys:
            return {}
        held = {anchor.var for anchor in part.anchors}
        bindings = tuple(binding for binding in self.linked.bindings if binding.var in held)
        try:
            found = self.graph.matching(replace(self.linked, plan=part, bindings=bindings), keys, self.limit)
        except StageError as error:
            self.problems.append(f"Conditions could not be checked: {error.reason}.")
            return dict.fromkeys(keys, "unknown")
        return {key: "met" if key in found else "not_met" for key in keys}
