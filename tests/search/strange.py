"""Pipelines that share only interfaces with GRASP: they have other stages, lists and titles, and no plans.

`wandering` fuses three lists with a fusion of its own. `walking` has one list of the graph and one of text under the
site's fusion, so that it can be tuned. `shuffling` has that fusion over two lists of text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.domain.evidence import Evidence, Path, PathEdge, PathNode, Result
from search.domain.flow import stage
from search.domain.fusion import Fusion, Share
from search.domain.linking import GraphRanking
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Ranking, by_key
from search.domain.trace import Limit, Trace
from search.domain.trust import Trust
from tests.rankings import ranked
from tests.search import small


@dataclass(frozen=True, kw_only=True)
class Wandering:
    """The stages of three lists, their fusion and the explanation."""

    wander: Any = stage("graph list", "Wander", "Wandering from door to door", list_name="walks")
    peruse: Any = stage("text list", "Peruse", "Perusing the shelves", list_name="shelves")
    gossip: Any = stage("list", "Gossip", "Listening to the neighbours")
    blend: Any = stage("fusion", "Blend", "Blending")
    polish: Any = stage("rerank", "Polish", "Polishing", optional=True)
    tell: Any = stage("explain", "Tell", "Telling what was heard")


def wandering(question: Question, stages: Wandering, trace: Trace) -> Ranking:
    """Answer with three lists."""
    walks = trace.step("wander", "graph list", stages.wander, question, trace.limit)
    shelves = trace.step("peruse", "text list", stages.peruse, question, trace.limit)
    rumours = trace.step("gossip", "list", stages.gossip, question, trace.limit)
    lists = {"walks": walks.ranking, "shelves": shelves, "gossip": rumours}
    fusion = trace.step("blend", "fusion", stages.blend, lists)
    if stages.polish is None:
        trace.skip("polish", "rerank", "Nothing to polish with.")
    else:
        fusion = trace.step("polish", "rerank", stages.polish, fusion)
    trace.step("tell", "explain", stages.tell, question, fusion, walks)
    return fusion.ranking


@dataclass(frozen=True, kw_only=True)
class Walking:
    """A list of the graph and one of text, fused as the site does."""

    wander: Any = stage("graph list", "Wander", "Wandering from door to door")
    peruse: Any = stage("text list", "Peruse", "Perusing the shelves")
    blend: Any = stage("fusion", "Blend", "Blending")
    tell: Any = stage("explain", "Tell", "Telling what was heard")


def walking(question: Question, stages: Walking, trace: Trace) -> Ranking:
    """Answer with two lists."""
    walks = trace.step("wander", "graph list", stages.wander, question, trace.limit)
    shelves = trace.step("peruse", "text list", stages.peruse, question, trace.limit)
    fusion = trace.step("blend", "fusion", stages.blend, question, walks, shelves, trace.limit)
    trace.step("tell", "explain", stages.tell, question, fusion, walks)
    return fusion.ranking


def silently_walking(question: Question, stages: Walking, trace: Trace) -> Ranking:
    """Answer with two lists whose fusion is never recorded: the mistake of somebody who forgot `trace.step`."""
    walks = trace.step("wander", "graph list", stages.wander, question, trace.limit)
    shelves = trace.step("peruse", "text list", stages.peruse, question, trace.limit)
    fusion = stages.blend(question, walks, shelves, trace.limit)
    trace.step("tell", "explain", stages.tell, question, fusion, walks)
    return fusion.ranking


@dataclass(frozen=True, kw_only=True)
class Shuffling:
    """The stages of two text lists, with a fusion that expects a graph list."""

    peruse: Any = stage("text list", "Peruse", "Perusing the shelves")
    skim: Any = stage("text list", "Skim", "Skimming the shelves")
    blend: Any = stage("fusion", "Blend", "Blending")
    tell: Any = stage("explain", "Tell", "Telling what was heard")


@dataclass(frozen=True)
class Wander:
    """Every film that Ada Holm directed, the second first."""

    nodes: Any
    steps: int = option(3, "How far it wanders.", low=1, high=9)

    def __call__(self, question: Question, limit: Limit) -> GraphRanking:
        if hook := small.HOOKS.get(f"graph: {question.text}"):
            hook(limit)
        return GraphRanking(ranked({1: 0.9, 0: 0.8}), Trust(2, "normal", 0.5), {0: {1: 0.9, 0: 0.8}})


@dataclass(frozen=True)
class Gossip:
    """A list with only the third film."""

    loud: bool = option(False, "Whether to listen to those who shout.")

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        return ranked({2: 1.0})


@dataclass(frozen=True)
class Blend:
    """Reciprocal ranks with equal weights."""

    k: float = option(1.0, "Added to every rank.", low=0, high=100)

    def __call__(self, rankings: Mapping[str, Ranking]) -> Fusion:
        weights = dict.fromkeys(rankings, 1.0)
        return Fusion.of(rankings, weights, self.k, by_key, method="blended")


@dataclass(frozen=True)
class Reverse:
    """Reverses the order of the fused list."""

    rate: float = option(0.5, "How brightly.", low=0, high=1)

    def __call__(self, fusion: Fusion) -> Fusion:
        keys = fusion.ranking.keys
        scores = {key: float(place) for place, key in enumerate(keys)}
        return Fusion.single("polish", ranked(scores))


@dataclass(frozen=True)
class Tell:
    """Explains each result by its shares of the lists, and by a path if it is in the graph list. No plans."""

    nodes: Any

    def __call__(self, question: Question, fusion: Fusion, walks: GraphRanking) -> list[Result]:
        results = []
        for rank, candidate in enumerate(fusion.ranking.candidates[: question.k], 1):
            [node] = self.nodes.references([candidate.key])
            shares = {
                name: Share(
                    listed.ranks.get(candidate.key), listed.scores.get(candidate.key), fusion.weights[name],
                    fusion.contribution(name, candidate.key),
                )
                for name, listed in fusion.rankings.items()
            }  # fmt: skip
            path = Path((PathNode(small.GRAPH.nodes[3]), PathNode(node)), (PathEdge("directed by", "in"),))
            evidence = Evidence(0, paths=(path,)) if candidate.key in walks.ranking.ranks else None
            results.append(Result(rank, candidate.score, node, "heard it at the corner", shares, evidence))
        return results


_HERE = "tests.search.strange"
_FIND = {"BACKEND": "tests.search.small.Find"}
_FUSE = {"BACKEND": "tests.search.small.Weigh"}
PIPELINES: dict[str, dict[str, Any]] = {
    "wandering": {
        "TITLE": "Wandering about",
        "DESCRIPTION": "Asks at every door.",
        "BACKEND": f"{_HERE}.wandering",
        "STAGES_CLASS": f"{_HERE}.Wandering",
        "STAGES": {
            "wander": {"BACKEND": f"{_HERE}.Wander"},
            "peruse": _FIND,
            "gossip": {"BACKEND": f"{_HERE}.Gossip"},
            "blend": {"BACKEND": f"{_HERE}.Blend"},
            "polish": {"VARIANTS": {"none": None, "reverse": {"BACKEND": f"{_HERE}.Reverse"}}, "DEFAULT": "none"},
            "tell": {"BACKEND": f"{_HERE}.Tell"},
        },
        "TITLES": {"walks": "Walks from door to door", "shelves": "Shelves and books"},
    },
    "walking": {
        "TITLE": "Walking",
        "DESCRIPTION": "Asks at some doors.",
        "BACKEND": f"{_HERE}.walking",
        "STAGES_CLASS": f"{_HERE}.Walking",
        "STAGES": {
            "wander": {"BACKEND": f"{_HERE}.Wander"}, "peruse": _FIND, "blend": _FUSE,
            "tell": {"BACKEND": f"{_HERE}.Tell"},
        },
    },
    "shuffling": {
        "TITLE": "Shuffling",
        "DESCRIPTION": "Stays at home.",
        "BACKEND": f"{_HERE}.walking",
        "STAGES_CLASS": f"{_HERE}.Shuffling",
        "STAGES": {"peruse": _FIND, "skim": _FIND, "blend": _FUSE, "tell": {"BACKEND": f"{_HERE}.Tell"}},
    },
}  # fmt: skip
