"""A small knowledge base of films in Postgres, and pipelines whose stages return chosen results.

For tests of services and doors: requests and responses are real, and the test controls the stages between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search.adapters.graph_postgres import PostgresGraph
from search.domain.conditions import CheckedConditions, Conditions
from search.domain.evidence import Evidence, Path, PathEdge, PathNode, Result
from search.domain.fusion import Fusion
from search.domain.graph import Field, Node, Schema
from search.domain.linking import Binding, GraphRanking, LinkedPlan, Reach, Traversal
from search.domain.options import option
from search.domain.plan import Anchor, Hop, Plan, ScoredPlan, Target
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking, by_key
from search.domain.trace import Limit
from search.domain.trust import Trust
from search.models import KnowledgeBase, Release, Snapshot
from search.models.knowledge import BuildStatus
from search.stages.fuse import FusionWeights
from tests.graphs import Nodes, schema_of, store
from tests.oracle import Graph

ODD_IDS = (
    "a b",
    "a/b",
    "a/b/",
    "ä→🎬",
    'say "hi"',
    "50%",
    "?x=1#y",
    "line\nbreak",
    "..",
    "'; DROP TABLE search_node;--",
)

_FILMS = (
    Node(0, "film/1", "film", "Amber Road", fields={"year": 1999, "plot": "A road through the amber forest."}),
    Node(1, "film/2", "film", "amber Light", fields={"year": 2004, "plot": "A lighthouse keeper waits."}),
    Node(2, "film/3", "film", "Birch Street", fields={"year": 2011, "plot": "Neighbours and a birch tree."}),
    Node(3, "person/1", "person", "Ada Holm"),
)
GRAPH = Graph(
    nodes=(*_FILMS, *(Node(4 + i, odd, "person", f"Odd {i}") for i, odd in enumerate(ODD_IDS))),
    edges=((0, "directed by", 3), (1, "directed by", 3), (2, "directed by", 4)),
)
"""Two films by Ada Holm, one by a person with an odd id. Keys do not follow the order of ids; no test needs it."""

PLAN = Plan(
    anchors=(Anchor("a", "Ada Holm", "person"),),
    hops=(Hop("a", "directed by", "T", "film", "in"),),
    target=Target("T", ("film",)),
)


def schema() -> Schema:
    """Return the schema of the films."""
    known = schema_of(GRAPH)
    film, person = known.node_types
    fields = (Field("year", "number", coverage=3), Field("plot", "text", coverage=3))
    return replace(known, node_types=(replace(film, fields=fields), person))


def films(name: str = "films", **attributes: Any) -> KnowledgeBase:
    """Write the knowledge base with one active release, and return it."""
    base = KnowledgeBase.objects.create(name=name, title="Films", examples=["Who made Amber Road?"], **attributes)
    snapshot = Snapshot.objects.create(
        knowledge_base=base, status=BuildStatus.READY, schema_json=schema().to_json(), nodes=len(GRAPH.nodes),
        edges=len(GRAPH.edges), seconds={"load": 0.2, "total": 0.5},
    )  # fmt: skip
    store(GRAPH, schema(), snapshot.pk)
    base.active_release = Release.objects.create(
        knowledge_base=base, number=1, snapshot=snapshot, status=BuildStatus.READY
    )
    base.save()
    return base


def node_tool(**_: Any) -> Nodes:
    """Return the nodes of the films, as `GRASP_TOOLS` builds a tool."""
    return Nodes(GRAPH, schema())


def no_tool(**_: Any) -> None:
    """Return None in place of a tool that no stage here uses."""


def postgres_tool(snapshot_id: int, schema: Schema, nodes: Nodes, **_: Any) -> PostgresGraph:
    """Return the engine that needs no index files."""
    return PostgresGraph(snapshot_id, schema, nodes)


_USUAL = Reach()
HOOKS: dict[str, Callable[[Limit], None]] = {}
"""{question's text: a function that a stage calls before it answers}; tests fill it."""

SCORES: dict[str, float] = {}
"""{question's text: the first film's score in text retrieval}; tests fill it, and the default is 0.9."""


@dataclass(frozen=True)
class Find:
    """Text retrieval: every film, in the order of keys."""

    nodes: Any
    depth: int = option(10, "How many are kept.", low=1, high=100)
    exact: bool = option(False, "Whether words must match.")
    backend = "small"

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        if hook := HOOKS.get(question.text):
            hook(limit)
        limit.check("retrieve")
        scores = {0: SCORES.get(question.text, 0.9), 1: 0.5, 2: 0.4}
        return Ranking.of(scores, by_key, self.depth)


HIDDEN: list[bool] = []
"""For each search with `FindAndTell`: whether its schema hides persons."""


@dataclass(frozen=True, kw_only=True)
class FindAndTell(Find):
    """Text retrieval that tells which schema it got."""

    schema: Any

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        HIDDEN.append(self.schema.node_type("person").hidden)
        return super().__call__(question, limit)


@dataclass(frozen=True)
class Show:
    """Explains with a path where the graph has one."""

    nodes: Any

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], checked: CheckedConditions, limit: Limit
    ) -> list[Result]:
        return [
            self._result(rank, candidate, fusion, checked.conditions.get(candidate.key))
            for rank, candidate in enumerate(fusion.ranking.candidates[: question.k], 1)
        ]

    def _result(self, rank: int, candidate: Candidate, fusion: Fusion, held: Conditions | None) -> Result:
        [node] = self.nodes.references([candidate.key])
        evidence = None
        if held is not None:
            path = Path((PathNode(GRAPH.nodes[3], "a"), PathNode(node, "T")), (PathEdge("directed by", "in"),))
            evidence = Evidence(0, held.anchors, held.hops, paths=(path,), plans=held.plans, whole=held.whole)
        shares = fusion.leaves(candidate.key)
        return Result(rank, candidate.score, node, "A road through the amber forest.", shares, evidence)


@dataclass(frozen=True)
class MakePlan:
    """Returns the user's plan, or PLAN if the question has none."""

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        return [ScoredPlan(question.plan or PLAN, "user" if question.plan else "schema", 1.0)]


@dataclass(frozen=True)
class LinkAnchors:
    """Binds every anchor to Ada Holm."""

    nodes: Any

    def __call__(self, plans: Sequence[ScoredPlan], limit: Limit, reach: Reach = _USUAL) -> list[LinkedPlan]:
        return [
            LinkedPlan(p.plan, tuple(Binding(a.var, GRAPH.nodes[3], 0.9) for a in p.plan.anchors), i, p.source, 1.0)
            for i, p in enumerate(plans)
        ]


@dataclass(frozen=True)
class Walk:
    """Finds Ada Holm's two films."""

    def __call__(self, plans: Sequence[LinkedPlan], limit: Limit) -> list[Traversal]:
        found = (Candidate(0, 0.9), Candidate(1, 0.9))
        return [Traversal(plan.index, "small", found, query="SELECT 1") for plan in plans]


@dataclass(frozen=True)
class Merge:
    """Keeps the candidates of the first plan."""

    def __call__(
        self, question: Question, plans: Sequence[LinkedPlan], found: Sequence[Traversal], limit: Limit
    ) -> GraphRanking:
        if hook := HOOKS.get(f"graph: {question.text}"):
            hook(limit)
        candidates = found[0].candidates
        parts = {0: {candidate.key: candidate.score for candidate in candidates}}
        return GraphRanking(Ranking.in_order(candidates), Trust(2, "no_trade", 0.0), parts, found)


@dataclass(frozen=True)
class Fuse:
    """Reciprocal ranks of both lists."""

    k: float = option(5.0, "The constant of reciprocal ranks.", low=1, high=100)
    weights: tuple[float, float] = option((2.0, 1.0), "Of graph and text.", low=0, high=10)
    method: str = option("static", "How weights are chosen.", choices=("static", "dynamic"))

    def __call__(self, question: Question, graph: GraphRanking, text: Ranking | Fusion, limit: Limit) -> Fusion:
        rankings = {"graph": graph.ranking, "text": text}
        weights = dict(zip(rankings, self.weights, strict=True))
        return Fusion.of(rankings, weights, self.k, by_key, bucket="[1,10]")


@dataclass(frozen=True)
class Weigh(FusionWeights):
    """Fuses as the site's stage does; these films have no vectors, so that equal sums stand in the order of keys."""

    def __call__(self, question: Question, graph: GraphRanking, text: Ranking | Fusion, limit: Limit) -> Fusion:
        return self.fuse(graph, text, by_key)


@dataclass(frozen=True)
class Hold:
    """Marks every candidate of the graph as meeting the whole plan."""

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], graph: GraphRanking, limit: Limit
    ) -> CheckedConditions:
        met = Conditions(0, "met", (("a", "met"),), ("met",))
        return CheckedConditions(
            {key: replace(met, plans=graph.shares([key])[0]) for key in graph.ranking.keys}, graph.leading
        )


_HERE = "tests.search.small"
_NONE = {"BACKEND": f"{_HERE}.no_tool"}
POSTGRES = {"BACKEND": f"{_HERE}.postgres_tool"}
"""The engine for tests whose knowledge base has no index files."""
TOOLS = {"nodes": {"BACKEND": f"{_HERE}.node_tool"}, "adjacency": _NONE, "columns": _NONE}
PIPELINES: dict[str, dict[str, Any]] = {
    "path": {
        "TITLE": "Path",
        "DESCRIPTION": "Follows the graph.",
        "BACKEND": "search.pipelines.grasp.search",
        "STAGES_CLASS": "search.pipelines.grasp.Stages",
        "STAGES": {
            "plan": {"BACKEND": f"{_HERE}.MakePlan"},
            "link": {"BACKEND": f"{_HERE}.LinkAnchors"},
            "traverse": {"BACKEND": f"{_HERE}.Walk"},
            "rescore": {"BACKEND": f"{_HERE}.Merge"},
            "retrieve": {"BACKEND": f"{_HERE}.Find"},
            "fuse": {"BACKEND": f"{_HERE}.Fuse"},
            "check": {"BACKEND": f"{_HERE}.Hold"},
            "explain": {"BACKEND": f"{_HERE}.Show"},
        },
    },
    "text": {
        "TITLE": "Text",
        "DESCRIPTION": "Reads documents.",
        "BACKEND": "search.pipelines.baselines.single",
        "STAGES_CLASS": "search.pipelines.baselines.SingleStages",
        "STAGES": {
            "retrieve": {"BACKEND": f"{_HERE}.Find", "OPTIONS": {"depth": 50}},
            "explain": {"BACKEND": f"{_HERE}.Show"},
        },
    },
}
