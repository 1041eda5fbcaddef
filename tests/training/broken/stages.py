"""Stages with a fault that an option switches on, and the site's pipelines with these stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking, LinkedPlan, Reach, Traversal
from search.domain.options import option
from search.domain.plan import Anchor, Hop, Plan, ScoredPlan, Target
from search.domain.question import Question
from search.domain.ranking import Ranking, by_key
from search.domain.spread import Spread
from search.domain.trace import Limit, StepOutput
from search.interfaces import MentionIndex
from search.stages.link import Link
from search.stages.pagerank import PageRank
from search.stages.rescore import Rescore
from search.stages.retrieve import Bm25, Dense, Hybrid
from tests.training.broken.world import SIZES, TWIN, WALKS, Step

FAULTS = ("", "type", "hop", "short", "none", "fails")


@dataclass(frozen=True)
class ReadPlan:
    """Knows the right plan of each question of the world, and lists it before two others; `fault` breaks the right one.

    `type` asks for another type, `hop` walks another relation to the same type, `short` leaves out all hops but the
    last, `none` leaves the question to the text, `fails` raises an error.
    """

    mentions: MentionIndex
    fault: str = option("", "What is wrong with the plan.", choices=FAULTS)

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        said, name = question.text.split(": ")
        start, steps = WALKS[said]
        if self.fault == "fails":
            raise StageError("plan", "the planner is broken on purpose")
        if self.fault == "none":
            return [ScoredPlan(Plan(target=Target("T", (), question.text), risk_level="no_trade"), "schema", 1.0)]
        right = self._plan(start, name, steps)
        if self.fault == "type":
            last = replace(right.hops[-1], to_label="award")
            right = replace(right, hops=(*right.hops[:-1], last), target=Target("T", ("award",)))
        elif self.fault == "hop":
            relation, direction, kind = steps[-1]
            right = self._plan(start, name, (*steps[:-1], (TWIN[relation], direction, kind)))
        elif self.fault == "short":
            right = self._plan(start, name, steps[-1:])
        others = [walk for other, (kind, walk) in WALKS.items() if kind == start and other != said][:2]
        return [
            ScoredPlan(right, "schema", 0.8),
            *(ScoredPlan(self._plan(start, name, walk), "schema", 0.1) for walk in others),
        ]

    def _plan(self, start: str, name: str, steps: Sequence[Step]) -> Plan:
        variables = ["a", *(f"x{at}" for at in range(1, len(steps))), "T"]
        hops = tuple(
            Hop(variables[at], relation, variables[at + 1], kind, direction)  # type: ignore[arg-type]
            for at, (relation, direction, kind) in enumerate(steps)
        )
        return Plan((Anchor("a", name, start),), hops, Target("T", (steps[-1][2],)), risk_level="aggressive")


_USUAL = Reach()


@dataclass(frozen=True)
class LinkByName(Link):
    """Binds an anchor to the node of that name; with `fault` to the next node of the same type."""

    mentions: MentionIndex = field(kw_only=True)
    fault: bool = option(False, "Whether anchors are bound to other nodes than they name.")

    def __call__(self, plans: Sequence[ScoredPlan], limit: Limit, reach: Reach = _USUAL) -> StepOutput[LinkedPlan]:
        given = []
        for scored in plans:
            anchors = []
            for anchor in scored.plan.anchors:
                [key] = self.mentions.lookup(anchor.text)
                if self.fault:
                    code = int(self.nodes.types([key])[0])
                    alike = [k for k in range(sum(SIZES.values())) if int(self.nodes.types([k])[0]) == code]
                    key = alike[(alike.index(key) + 1) % len(alike)]
                anchors.append(replace(anchor, ids=tuple(self.nodes.ids([key]))))
            given.append(replace(scored, plan=replace(scored.plan, anchors=tuple(anchors))))
        linked = super().__call__(given, limit)
        return StepOutput(
            [replace(one, plan=scored.plan) for one, scored in zip(linked, plans, strict=True)], linked.detail
        )


@dataclass(frozen=True)
class InOrder(Rescore):
    """Orders equal scores by key; with `fault` the whole list stands the wrong way round."""

    fault: bool = option(False, "Whether the list is turned round.")

    def __call__(
        self, question: Question, plans: Sequence[LinkedPlan], found: Sequence[Traversal], limit: Limit
    ) -> GraphRanking:
        graph = super().__call__(question, plans, found, limit)
        ranking = Ranking.of(graph.ranking.scores, by_key)
        if self.fault:
            ranking = Ranking(tuple(reversed(ranking.candidates)), ranking.total)
        return replace(graph, ranking=ranking)


@dataclass(frozen=True)
class Forgetful(Bm25):
    """BM25; with `fault` it forgets every second document."""

    fault: bool = option(False, "Whether documents are forgotten.")

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        ranking = super().__call__(question, limit)
        return _forgetting(ranking) if self.fault else ranking


@dataclass(frozen=True)
class Lopsided(Hybrid):
    """Fuses two lists of text; with `fault` the list of words counts nothing."""

    fault: bool = option(False, "Whether the list of words counts nothing.")

    def __call__(self, question: Question, limit: Limit) -> Fusion:
        lists = {
            "bm25": Bm25(self.text, self.encoder, self.vectors, self.depth)(question, limit),
            "vss": Dense(self.encoder, self.vectors, self.depth)(question, limit),
        }
        weights = {"bm25": 0.0, "vss": 1.0} if self.fault else {"bm25": 1.0, "vss": 0.01}
        return Fusion.of(lists, weights, self.k, by_key, self.depth)


@dataclass(frozen=True)
class ForgetfulPageRank(PageRank):
    """PageRank; with `fault` it forgets every second node."""

    fault: bool = option(False, "Whether nodes are forgotten.")

    def __call__(self, question: Question, limit: Limit) -> Spread:
        spread = super().__call__(question, limit)
        return replace(spread, ranking=_forgetting(spread.ranking)) if self.fault else spread


@dataclass(frozen=True)
class Reversing:
    """A reranker that puts the last of the first 100 first, and believes itself alone."""

    def __call__(self, question: Question, fusion: Fusion, plans: object, checked: object, limit: Limit) -> Fusion:
        head = fusion.ranking.candidates[:100]
        turned = Ranking.of({c.key: float(at) for at, c in enumerate(head)}, by_key)
        return Fusion.of({"fusion": fusion, "reranker": turned}, {"fusion": 0.0, "reranker": 1.0}, 5, by_key)


def _forgetting(ranking: Ranking) -> Ranking:
    return Ranking.in_order(c for c in ranking.candidates if c.key % 2)


_HERE = __name__


def pipelines(site: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the site's pipelines with the stages of this module, whose faults are options."""

    def with_stages(name: str, **stages: Any) -> dict[str, Any]:
        return {**site[name], "STAGES": {**site[name]["STAGES"], **stages}}

    forgetful = {"BACKEND": f"{_HERE}.Forgetful"}
    rerank = {"VARIANTS": {"none": None, "reversing": {"BACKEND": f"{_HERE}.Reversing"}}, "DEFAULT": "none"}
    return {
        "grasp": with_stages(
            "grasp", plan={"BACKEND": f"{_HERE}.ReadPlan"}, link={"BACKEND": f"{_HERE}.LinkByName"},
            rescore={"BACKEND": f"{_HERE}.InOrder"}, retrieve=forgetful, rerank=rerank,
        ),
        "bm25": with_stages("bm25", retrieve=forgetful),
        "nested": {**with_stages("bm25", retrieve={"BACKEND": f"{_HERE}.Lopsided"})},
        "hybrid": with_stages("hybrid", bm25=forgetful),
        "ppr": with_stages("ppr", pagerank={"BACKEND": f"{_HERE}.ForgetfulPageRank"}, retrieve=forgetful),
    }  # fmt: skip
