"""A generated base with questions whose right plans are known, and pipelines in which one stage is broken on purpose.

A search with the intact pipeline finds an answer; the same search with one broken stage loses it. So the stage that
lost it is known without looking at any list.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
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
from search.services.searches.request_search import pin_searches
from search.services.searches.run_search import ranking_of
from search.stages.link import Link
from search.stages.pagerank import PageRank
from search.stages.rescore import Rescore
from search.stages.retrieve import Bm25, Dense, Hybrid
from tests.search.ingest import bundles
from training.data.examples import Example
from training.evaluation.lost import LostStage
from training.services.attribution import attribute
from training.services.evaluate import search_pinned

Edge = tuple[int, str, int]
Step = tuple[str, str, str]
"""A hop: relation, direction, type at its far end."""

NAME = "broken"
SIZES = {"film": 400, "person": 200, "studio": 60, "city": 30, "award": 40}
RELATIONS: dict[str, tuple[str, str]] = {
    "directed_by": ("film", "person"), "written_by": ("film", "person"), "made_by": ("film", "studio"),
    "sold_by": ("film", "studio"), "based_in": ("studio", "city"), "founded_in": ("studio", "city"),
    "won": ("film", "award"),
}  # fmt: skip
TWIN = {"directed_by": "written_by", "made_by": "sold_by", "based_in": "founded_in"}
TWIN |= {there: here for here, there in TWIN.items()}
"""Relations between the same types: a hop over the other one is a wrong hop to the right type."""
WALKS: dict[str, tuple[str, tuple[Step, ...]]] = {
    "films directed by": ("person", (("directed_by", "in", "film"),)),
    "films written by": ("person", (("written_by", "in", "film"),)),
    "director of": ("film", (("directed_by", "out", "person"),)),
    "studio of": ("film", (("made_by", "out", "studio"),)),
    "films made by": ("studio", (("made_by", "in", "film"),)),
    "studios based in": ("city", (("based_in", "in", "studio"),)),
    "writers of the films directed by": ("person", (("directed_by", "in", "film"), ("written_by", "out", "person"))),
    "studios of the films written by": ("person", (("written_by", "in", "film"), ("made_by", "out", "studio"))),
    "city of the studio of": ("film", (("made_by", "out", "studio"), ("based_in", "out", "city"))),
    "films of studios based in": ("city", (("based_in", "in", "studio"), ("made_by", "in", "film"))),
}
"""What is asked → the type of the named node and the right walk."""
CUT_OFF = 0.12
"""Share of the nodes that have lost all their edges: the base lacks them, the questions expect them."""
TOP = 5
"""Length of the top of a ranking, short enough for so small a base to lose answers."""


@dataclass(frozen=True)
class World:
    """The nodes (type and name by position), all true edges, and the nodes whose edges the base lacks."""

    nodes: tuple[tuple[str, str], ...]
    edges: tuple[Edge, ...]
    cut_off: frozenset[int]

    @classmethod
    def of(cls, seed: int = 0) -> World:
        """Return a world; the same seed gives the same one."""
        chance = random.Random(seed)
        names = _names(sum(SIZES.values()), chance)
        nodes = tuple((kind, next(names)) for kind, size in SIZES.items() for _ in range(size))
        of_type = {kind: [at for at, node in enumerate(nodes) if node[0] == kind] for kind in SIZES}
        edges = [
            (source, relation, chance.choice(of_type[there]))
            for relation, (here, there) in RELATIONS.items()
            for source in of_type[here]
        ]
        cut_off = frozenset(at for at in range(len(nodes)) if chance.random() < CUT_OFF)
        return cls(nodes, tuple(edges), cut_off)

    def follow(self, start: int, steps: Sequence[Step]) -> frozenset[int]:
        """Return the nodes at the end of a walk over the true edges that does not return to its start."""
        here = {start}
        for relation, direction, _ in steps:
            pairs = ((s, t) if direction == "out" else (t, s) for s, r, t in self.edges if r == relation)
            here = {there for near, there in pairs if near in here} - {start}
        return frozenset(here)

    def bundle(self, folder: Path) -> Path:
        """Write the base: without the edges of the nodes that are cut off."""
        nodes = [
            {"id": f"n{at:04}", "type": kind, "name": name, "fields": {}} for at, (kind, name) in enumerate(self.nodes)
        ]
        edges = [
            {"source": f"n{source:04}", "relation": relation, "target": f"n{target:04}"}
            for source, relation, target in self.edges
            if not self.cut_off & {source, target}
        ]
        return bundles.write(folder, nodes, edges, name=NAME, node_types={kind: {} for kind in SIZES})

    def questions(self, seed: int = 0) -> list[Example]:
        """Return every question of `WALKS` about nodes that are not cut off, in a random order."""
        found = []
        for said, (kind, steps) in WALKS.items():
            for at, (own, name) in enumerate(self.nodes):
                if own == kind and at not in self.cut_off:
                    answers = tuple(f"n{end:04}" for end in sorted(self.follow(at, steps)))
                    if 1 <= len(answers) <= 12:
                        found.append(Example(f"{said} {at}", f"{said}: {name}", answers))
        random.Random(seed).shuffle(found)
        return found

    def near(self, start: int, hops: int) -> frozenset[int]:
        """Return the nodes that are at most so many hops away in the base."""
        near = {start}
        for _ in range(hops):
            edges = [(s, t) for s, _, t in self.edges if not self.cut_off & {s, t}]
            near |= {t for s, t in edges if s in near} | {s for s, t in edges if t in near}
        return frozenset(near)


def _names(number: int, chance: random.Random) -> Any:
    """Return an iterator over different names of two made-up words."""
    parts = (
        ("b", "d", "f", "g", "k", "m", "r", "v", "z"),
        ("a", "o", "u", "ei"),
        ("x", "nk", "lm", "rg"),
        ("ur", "oz"),
    )
    words = ["".join(several).capitalize() for several in product(*parts)]
    pairs = {f"{chance.choice(words)} {chance.choice(words)}" for _ in range(3 * number)}
    chosen = sorted(pairs)
    chance.shuffle(chosen)
    return iter(chosen)


# ----------------------------------------------------------------------------------------------------- broken stages
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

    def __call__(self, question: Question, fusion: Fusion, limit: Limit) -> Fusion:
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


@dataclass(frozen=True)
class Break:
    """One broken stage: its pipeline, the settings that break it, and the stage that loses the answers."""

    name: str
    stage: LostStage
    pipeline: str
    settings: dict[str, Any]
    only: tuple[str, ...] = ()
    """What may be asked; empty: everything."""


_LONG = tuple(said for said, (_, steps) in WALKS.items() if len(steps) > 1)
_MANY = tuple(said for said in WALKS if said.startswith(("films", "studios")))
BREAKS: tuple[Break, ...] = (
    Break("planner: wrong type", LostStage.TYPED, "grasp", {"plan.fault": "type"}),
    Break("planner: wrong hop", LostStage.REACHED, "grasp", {"plan.fault": "hop"}),
    Break("planner: hop left out", LostStage.REACHED, "grasp", {"plan.fault": "short"}, _LONG),
    Break("planner: no plan", LostStage.PLANNED, "grasp", {"plan.fault": "none"}),
    Break("planner: fails", LostStage.PLANNED, "grasp", {"plan.fault": "fails"}),
    Break("linker: wrong node", LostStage.LINKED, "grasp", {"link.fault": True}),
    Break("traverse: list cut", LostStage.CUT, "grasp", {"traverse.rows": 1}, _MANY),
    Break("rescore: turned round", LostStage.RANKED, "grasp", {"rescore.fault": True}, _MANY),
    Break("fuse: graph counts nothing", LostStage.FUSED, "grasp", {"fuse.method": "static", "fuse.weight": 0.0}),
    Break("rerank: last first", LostStage.RERANKED, "grasp", {"rerank": "reversing"}),
    Break("bm25: documents forgotten", LostStage.RETRIEVED, "bm25", {"retrieve.fault": True}),
    Break("hybrid: documents forgotten", LostStage.RETRIEVED, "hybrid", {"bm25.fault": True, "vss.depth": 1}),
    Break("nested fusion: words count nothing", LostStage.FUSED, "nested", {"retrieve.fault": True}),
    Break("ppr: nodes forgotten", LostStage.RETRIEVED, "ppr", {"pagerank.fault": True, "retrieve.fault": True}),
    Break("ppr: graph counts nothing", LostStage.FUSED, "ppr", {"fuse.method": "static", "fuse.weight": 0.0}),
)  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ oracle
@dataclass(frozen=True)
class Verdict:
    """A lost answer: what was broken, the stage that lost it, and the stage that the attribution names."""

    what: str
    stage: LostStage
    named: LostStage
    question: str
    why: str


def verdicts(broken: Break, examples: Sequence[Example], most: int) -> list[Verdict]:
    """Return at least `most` verdicts (if the questions give so many) on answers that only the broken stage loses."""
    intact = pin_searches(knowledge_base=NAME, pipelines=[broken.pipeline], settings={})[broken.pipeline]
    faulty = pin_searches(knowledge_base=NAME, pipelines=[broken.pipeline], settings=broken.settings)[broken.pipeline]
    found: list[Verdict] = []
    for example in examples:
        if len(found) >= most:
            break
        if broken.only and not example.text.startswith(broken.only):
            continue
        top = {node for node, _ in ranking_of(search_pinned(intact, example))[:TOP]}
        if top.isdisjoint(example.answers):
            continue
        attribution = attribute(search_pinned(faulty, example), example.answers, k=TOP)
        found += [
            Verdict(broken.name, broken.stage, fate.loss.stage, example.text, fate.loss.why)
            for fate in attribution.answers
            if fate.loss is not None and fate.id in top
        ]
    return found


def missing_edges(world: World, examples: Sequence[Example], most: int) -> list[Verdict]:
    """Return verdicts on answers to which the base has no walk of up to three hops, and on ids that it has not."""
    intact = pin_searches(knowledge_base=NAME, pipelines=["grasp"], settings={})["grasp"]
    found: list[Verdict] = []
    for example in examples:
        if len(found) >= most:
            break
        near = world.near(int(example.id.split()[-1]), 3)
        apart = {answer for answer in example.answers if int(answer[1:]) not in near}
        if not apart:
            continue
        attribution = attribute(search_pinned(intact, example), (*example.answers, "nowhere"), k=TOP)
        for fate in attribution.answers:
            stage = LostStage.UNREACHABLE if fate.id in apart else LostStage.UNKNOWN if fate.id == "nowhere" else None
            if fate.loss is not None and stage is not None:
                found.append(Verdict(f"base: {stage}", stage, fate.loss.stage, example.text, fate.loss.why))
    return found


def confusion(found: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    """Return what was broken → stage that was named → number of lost answers."""
    table: dict[str, dict[str, int]] = {}
    for one in found:
        row = table.setdefault(f"{one.what} → {one.stage}", {})
        row[one.named] = row.get(one.named, 0) + 1
    return table
