"""Collects the facts about the lost answers of one search: from its recorded steps, from a repetition where they were
cut, from the graph where a limit cut the engine, and from the planner's own reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from search.domain.errors import StageError
from search.domain.linking import Binding, LinkedPlan, Reach
from search.domain.payloads import BoundAnchor
from search.domain.plan import ScoredPlan
from search.domain.trace import Limit
from training.evaluation.lost import PossiblePlan
from training.evaluation.lost.facts import ExecutedPlan, GraphFacts, Held, LostWays, RunFacts
from training.evaluation.lost.recorded import Recorded, TypedStep, held, input_name, inputs_of, list_step
from training.evaluation.lost.ways import way_search
from training.services.list_titles import titles_in
from training.services.replay import Repeated, ReplayedSearch, repeated

FURTHER = Reach(k=4.0, tau=0.85)
"""How much further anchors are looked up to see whether a less similar node was meant."""
_GRAPH_ROLES = frozenset({"plan", "graph", "graph list"})


@dataclass(frozen=True)
class Findings:
    """The facts of a search, the plan that would have found its answers, and a sentence if there is none."""

    facts: RunFacts
    plan: PossiblePlan | None = None
    no_plan: str = ""


@dataclass(frozen=True)
class FactFinder:
    """Finds the facts about one search and its expected answers, as far as lost answers need them."""

    search: ReplayedSearch
    expected: tuple[str, ...]
    k: int
    limit: Limit

    def findings(self) -> Findings:
        """Return the facts.

        Raises UnreadablePayload for a step that this code cannot read, StageError if a tool does not answer,
        DeadlineExceeded and SearchCancelled.
        """
        nodes = self.search.tools.nodes.references(list(self.keys.values()))
        facts = RunFacts(
            self.expected,
            {node.id: node.type for node in nodes},
            held("answer", self.search.answer, self.expected),
            tuple(list_step(step, self.expected, self._depth(step)) for step in self.recorded.lists),
            answerable=frozenset(self.search.tools.schema.answerable),
            names={node.id: node.name for node in nodes},
            titles=self._titles(),
        )
        due = self._due(facts.answer)
        if not due:
            return Findings(facts)
        again = repeated(self.search, self.recorded, facts, self.keys, due, self.limit)
        facts = replace(facts, steps=again.steps, answer=again.answer)
        if not any(step.role in _GRAPH_ROLES for step in self.recorded.steps):
            return Findings(facts)
        ways, plan, no_plan = self._ways()
        return Findings(replace(facts, graph=self._graph(ways, again, due)), plan, no_plan)

    @cached_property
    def keys(self) -> dict[str, int]:
        """The key of each expected answer that the release contains."""
        found = zip(self.expected, self.search.tools.nodes.keys(self.expected), strict=True)
        return {identifier: key for identifier, key in found if key is not None}

    @cached_property
    def recorded(self) -> Recorded:
        """The typed steps."""
        return Recorded.of(self.search.steps)

    def _due(self, answer: Held) -> list[str]:
        """Return the answers whose loss has to be explained: those below the top, and the best if it is not first."""
        due = [one for one in self.keys if not answer.in_top(one, self.k)]
        if answer.ranks and 1 not in answer.ranks.values():
            best = min(answer.ranks, key=answer.ranks.__getitem__)
            due += [] if best in due else [best]
        return due

    def _titles(self) -> dict[str, str]:
        """Return name → words on pages for every list, also for those that a list step combines."""
        names = [name for step in self.recorded.lists for name in (step.name, *(
            input_name(step.name, step.role, inner) for inner in inputs_of(step.payload)
        ))]  # fmt: skip
        return titles_in(self.search.pipeline, list(dict.fromkeys(names)))

    def _depth(self, step: TypedStep) -> int | None:
        depth = getattr(getattr(self.search.stages, step.name, None), "depth", None)
        return depth if isinstance(depth, int) else None

    def _ways(self) -> tuple[LostWays, PossiblePlan | None, str]:
        """Return the plans of the question that find the answers; they are unsure if it cannot be read here."""
        tools = self.search.tools
        try:
            executed = [entry.plan for entry in self.recorded.plans.entries]
            look = way_search(self.search.stages, tools)
            return look(self.search.question.text, self.keys, executed, self.limit)
        except (StageError, OSError, KeyError) as error:
            said = f"The plans of the question could not be listed: {error}."
            return LostWays(unsure=said), None, said

    def _graph(self, ways: LostWays, again: Repeated, due: Sequence[str]) -> GraphFacts:
        planned = any(step.role == "plan" for step in self.recorded.steps)
        plans = tuple(self._executed(index, again, due) for index in range(len(self.recorded.plans.entries)))
        running = [plan for plan in plans if plan.runs]
        if not running:
            return GraphFacts(planned, plans, None, self.recorded.problems, ways)
        best = max(running, key=lambda plan: (plan.probability, -plan.index)).index
        plans = tuple(self._examined(plan, ways, due) if plan.index == best else plan for plan in plans)
        return GraphFacts(planned, plans, best, self.recorded.problems, ways)

    def _executed(self, index: int, again: Repeated, due: Sequence[str]) -> ExecutedPlan:
        """Return a plan with the answers that it reaches; what its list does not show, the graph says."""
        entry = self.recorded.plans.entries[index]
        anchors = self._anchors(index)
        bound = tuple(
            frozenset(node.id for one in anchors if one.anchor == anchor.var for node in one.bindings)
            for anchor in entry.plan.anchors
        )
        listed, truncated = again.traversed.get(index, (Held(""), True))
        changed = self.recorded.recovery is not None and self.recorded.recovery.plan_index == index
        plan = ExecutedPlan(index, entry.plan, entry.probability, bound, listed, frozenset(listed.ranks), changed)
        open_ = [one for one in due if one not in listed.ranks]
        if not plan.runs or not open_ or (listed.whole and not truncated):
            return plan
        linked = self._linked(index)
        reached = self._matching(linked, open_)
        if reached is None:
            return replace(plan, unsure=frozenset(open_))
        return replace(plan, reaches=plan.reaches | reached)

    def _examined(self, plan: ExecutedPlan, ways: LostWays, due: Sequence[str]) -> ExecutedPlan:
        """Return the best plan with the answers that it would reach without filters or with other bindings."""
        away = [one for one in due if one not in plan.reaches | plan.unsure]
        if not away:
            return plan
        linked = self._linked(plan.index, changed=False)
        if plan.plan.filters:
            found = self._matching(replace(linked, plan=replace(linked.plan, filters=())), away)
            plan = replace(plan, without_filters=found or frozenset())
        homeless = [one for one in away if not ways.to(one)]
        if homeless and (again := self._relinked(linked)) is not None:
            plan = replace(plan, relinked=self._matching(again, homeless) or frozenset())
        return plan

    def _relinked(self, linked: LinkedPlan) -> LinkedPlan | None:
        """Return a plan whose anchors are bound to more nodes by their texts; None if none of them has a text."""
        name = next((step.name for step in self.recorded.steps if step.role == "link"), "")
        stage = getattr(self.search.stages, name, None)
        if stage is None or not any(anchor.text and not anchor.ids for anchor in linked.plan.anchors):
            return None
        try:
            [again] = stage([ScoredPlan(linked.plan, linked.source, linked.probability)], self.limit, FURTHER)
        except StageError:
            return None
        return replace(linked, bindings=again.bindings)

    def _matching(self, linked: LinkedPlan, answers: Sequence[str]) -> frozenset[str] | None:
        """Return the answers that match a plan in the graph, None if the graph does not answer."""
        if not linked.is_bound:
            return frozenset()
        keys = {self.keys[one]: one for one in answers}
        try:
            return frozenset(keys[key] for key in self.search.tools.graph.matching(linked, sorted(keys), self.limit))
        except StageError:
            return None

    def _anchors(self, index: int, *, changed: bool = False) -> tuple[BoundAnchor, ...]:
        """Return the bound anchors of a plan before recovery, or with `changed` after it."""
        recovery, links = self.recorded.recovery, self.recorded.links.plans
        if changed and recovery is not None and recovery.plan_index == index:
            return recovery.linked
        return links[index] if index < len(links) else ()

    def _linked(self, index: int, *, changed: bool = True) -> LinkedPlan:
        """Return a plan with its bindings, with `changed` as recovery left it."""
        entry, recovery = self.recorded.plans.entries[index], self.recorded.recovery
        plan = recovery.plan if changed and recovery is not None and recovery.plan_index == index else entry.plan
        pairs = [(one.anchor, node) for one in self._anchors(index, changed=changed) for node in one.bindings]
        tools = self.search.tools
        keys = [key for key in tools.nodes.keys([node.id for _, node in pairs]) if key is not None]
        bindings = tuple(
            Binding(var, node, bound.score)
            for (var, bound), node in zip(pairs, tools.nodes.references(keys), strict=True)
        )
        return LinkedPlan(plan, bindings, index, entry.source, entry.probability)
