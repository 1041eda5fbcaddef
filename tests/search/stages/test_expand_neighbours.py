"""Expansion: which neighbours are collected, how they are ordered, and when nothing is expanded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.adapters import similar_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.similar_memmap import MemmapSimilar
from search.adapters.vectors_none import NoVectors
from search.domain.errors import DeadlineExceeded
from search.domain.graph import Node
from search.domain.linear import linear, rescaled
from search.domain.linking import LinkedPlan
from search.domain.neighbours import Neighbours
from search.domain.plan import Anchor, Exclusion, Hop, Plan, Target
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking, by_key
from search.domain.similarity import IS_SIMILAR, SimilarReport, SimilarSettings
from search.domain.trace import Limit
from search.interfaces import Keys
from search.stages.expand_neighbours import ExpandNeighbours, evenly
from search.stages.retrieve_linear import Linear
from search.stages.unite import Unite
from tests.graphs import Nodes, schema_of, write_adjacency
from tests.oracle import Graph
from tests.search.stages.doubles import Cosines

ASKED = "rain"


@dataclass
class Words:
    """A text index whose scores are written down (interfaces.TextIndex)."""

    scores: Mapping[int, float]
    asked: list[list[int]] = field(default_factory=list)

    def word_scores(self, text: str, keys: Keys, field: str | None = None) -> tuple[Any, Any]:
        self.asked.append(keys.tolist())
        return np.ones(1), np.array([[self.scores.get(int(key), 0.0) for key in keys]], dtype=np.float32)

    def search(self, text: str, k: int, labels: Sequence[str] = (), field: str | None = None) -> list[Candidate]:
        order = sorted(self.scores, key=lambda key: (-self.scores[key], key))
        return [Candidate(key, self.scores[key]) for key in order[:k]]


def stage(
    folder: Path, graph: Graph, words: Mapping[int, float], cosines: Mapping[int, float],
    similar: Mapping[int, Sequence[int]] | None = None, hidden: Sequence[str] = (), **options: Any,
) -> ExpandNeighbours:  # fmt: skip
    """Return the stage over a graph; `similar` maps a node to those it is similar to, None for no such edges."""
    schema = schema_of(graph)
    for node_type in schema.node_types:
        object.__setattr__(node_type, "answerable", node_type.name not in hidden)
    (folder / "adjacency").mkdir(parents=True)
    (folder / "similar").mkdir()
    write_adjacency(graph, schema, folder / "adjacency")
    if similar is not None:
        most = max(map(len, similar.values()), default=1)
        far = np.full((len(similar), most), -1, dtype=np.int32)
        for at, key in enumerate(sorted(similar)):
            far[at, : len(similar[key])] = similar[key]
        report = SimilarReport(SimilarSettings(), len(similar), 0, (), {}, 0.0, 0)
        similar_memmap.build(
            folder / "similar", nodes=len(graph.nodes), keys=np.array(sorted(similar), dtype=np.int32), far=far,
            strength=np.ones_like(far, dtype=np.float32), signal=np.zeros_like(far, dtype=np.int8),
            about=report.to_json(),
        )  # fmt: skip
    table = Cosines({"document+relations": {ASKED: cosines}})
    return ExpandNeighbours(
        MemmapAdjacency(folder / "adjacency", schema), MemmapSimilar(folder / "similar"), Nodes(graph, schema),
        Words(words), table, table, **options,
    )  # type: ignore[arg-type]  # fmt: skip


def seeds(*keys: int) -> Ranking:
    return Ranking.in_order(Candidate(key, 1.0 - at / 100) for at, key in enumerate(keys))


def expand(made: ExpandNeighbours, *keys: int, plans: Sequence[LinkedPlan] = ()) -> Neighbours:
    return made(Question(ASKED), seeds(*keys), plans, Limit())


def said(found: Neighbours, key: int) -> tuple[str, str, str, str]:
    path = found.paths[key]
    [edge] = path.edges
    return path.nodes[0].node.id, edge.relation, edge.direction, path.nodes[1].node.id


TOWN = Graph(
    nodes=(
        Node(0, "a", "film", "A"), Node(1, "b", "film", "B"), Node(2, "c", "film", "C"), Node(3, "d", "person", "D"),
        Node(4, "e", "film", "E"), Node(5, "f", "genre", "F"),
    ),
    edges=((0, "sequel of", 1), (2, "sequel of", 0), (0, "made by", 3), (1, "made by", 3), (0, "has genre", 5)),
)  # fmt: skip


def test_neighbours_over_both_directions_and_by_similarity_are_ordered_by_the_sum_of_rescaled_scores(
    tmp_path: Path,
) -> None:
    made = stage(tmp_path, TOWN, {1: 2.0, 2: 0.0, 3: 4.0, 4: 1.0}, {1: 0.9, 2: 0.5, 3: 0.1, 4: 0.7}, {0: [4, 1]},
                 hidden=["genre"], bm25_weight=0.25)  # fmt: skip
    found = expand(made, 0)
    # BM25 ÷ 4: 0.5, 0, 1, 0.25; cosine (c - 0.1) ÷ 0.8: 1, 0.5, 0, 0.75. A quarter of the first, three of the second.
    assert found.ranking.scores == pytest.approx({1: 0.875, 4: 0.625, 2: 0.375, 3: 0.25}, abs=1e-6)
    assert found.ranking.keys == (1, 4, 2, 3)
    assert [said(found, key) for key in (1, 4, 2, 3)] == [
        ("a", "sequel of", "out", "b"), ("a", IS_SIMILAR, "out", "e"), ("a", "sequel of", "in", "c"),
        ("a", "made by", "out", "d"),
    ]  # fmt: skip
    assert found.status == "ok"
    assert found.detail == (
        "1 entity has 4 neighbours that can be answers (3 over relations of the graph, 1 by likeness); 4 are kept."
    )


def test_only_the_best_are_kept_and_seeds_are_never_among_them(tmp_path: Path) -> None:
    made = stage(tmp_path, TOWN, {}, {1: 0.9, 2: 0.5, 3: 0.1, 5: 0.8}, {}, neighbours=2, seeds=2)
    found = expand(made, 0, 1, 2)
    assert found.ranking.keys == (5, 2)
    assert found.seeds == 2
    # Node 3 is a neighbour of both seeds and belongs to the first.
    assert said(expand(stage(tmp_path / "x", TOWN, {3: 1.0}, {3: 0.9}, {}), 1, 0), 3) == ("b", "made by", "out", "d")


def test_a_release_without_similarity_edges_is_expanded_over_the_graph_and_says_so(tmp_path: Path) -> None:
    found = expand(stage(tmp_path, TOWN, {}, {1: 0.9, 2: 0.5, 3: 0.1, 5: 0.8}), 0)
    assert found.ranking.keys == (1, 5, 2, 3)
    assert found.status == "degraded"
    assert "Entries of similar content are not linked" in found.detail
    lonely = expand(stage(tmp_path / "x", TOWN, {}, {}), 4)
    assert (len(lonely.ranking), lonely.status) == (0, "degraded")
    assert lonely.detail.startswith("None of the first 1 entities has a neighbour that can be an answer. Entries of")


def plan(*hops: Hop, exclude: Sequence[Exclusion] = ()) -> LinkedPlan:
    return LinkedPlan(Plan((Anchor("A", "Ann"),), hops, Target("T"), exclude=tuple(exclude)), ())


HOP = Hop("A", "made by", "T")


@pytest.mark.parametrize(
    ("policy", "plans", "expands"),
    [
        ("no_edge", [plan(HOP)], False),
        ("no_edge", [plan(exclude=[Exclusion((), (HOP,))])], False),
        ("no_edge", [plan()], True),
        ("no_edge", [], True),
        ("always", [plan(HOP)], True),
        ("always", [], True),
    ],
)
def test_policies_decide_by_the_edges_of_the_plan(
    policy: str, plans: Sequence[LinkedPlan], expands: bool, tmp_path: Path
) -> None:
    found = expand(stage(tmp_path, TOWN, {}, {1: 0.9}, {}, policy=policy), 0, plans=plans)
    assert bool(len(found.ranking)) == expands
    assert found.status == "ok"
    assert expands or "follows relations itself" in found.detail


def test_a_hub_gives_a_bounded_number_of_neighbours_taken_evenly(tmp_path: Path) -> None:
    nodes = tuple(Node(key, f"{key:04}", "film", f"Film {key}") for key in range(1_001))
    hub = Graph(nodes, tuple((0, "near", key) for key in range(1, 1_001)))
    made = stage(tmp_path, hub, {}, {key: key / 2_000 for key in range(1_001)}, {}, edges=50, neighbours=3)
    found = expand(made, 0)
    assert found.ranking.keys == (981, 961, 941)
    assert len(made.text.asked[0]) == 50  # type: ignore[attr-defined]
    assert "Entities of which only some neighbours were taken: 1." in found.detail
    assert evenly(np.arange(7, dtype=np.int32), 3).tolist() == [0, 2, 4]


def test_without_vectors_words_alone_order_the_neighbours(tmp_path: Path) -> None:
    made = stage(tmp_path, TOWN, {1: 1.0, 2: 3.0, 3: 2.0}, {}, {})
    bare = ExpandNeighbours(made.adjacency, made.similar, made.nodes, made.text, made.encoder, NoVectors())
    assert expand(bare, 0).ranking.keys == (2, 3, 1, 5)


def test_it_stops_when_the_time_is_over(tmp_path: Path) -> None:
    with pytest.raises(DeadlineExceeded):
        stage(tmp_path, TOWN, {}, {}, {})(Question(ASKED), seeds(0), [], Limit.seconds(-1))


def oracle(
    graph: Graph, similar: Mapping[int, Sequence[int]], first: Sequence[int], words: Mapping[int, float],
    cosines: Mapping[int, float], weight: float, kept: int,
) -> list[int]:  # fmt: skip
    """Return the neighbours in their order, by walking over lists of edges."""
    near = {far for seed in first for far in similar.get(seed, ())}
    near |= {b for a, _, b in graph.edges if a in first} | {a for a, _, b in graph.edges if b in first}
    near -= set(first)
    low, high = min(words[key] for key in near), max(words[key] for key in near)
    least, most = min(cosines[key] for key in near), max(cosines[key] for key in near)
    total = {
        key: weight * (words[key] - low) / (high - low) + (1 - weight) * (cosines[key] - least) / (most - least)
        for key in near
    }
    return sorted(total, key=lambda key: -total[key])[:kept]


@pytest.mark.parametrize("seed", range(5))
def test_expansion_equals_an_oracle_on_random_graphs(seed: int, tmp_path: Path) -> None:
    drawn = np.random.default_rng(seed)
    count = 80
    pairs = {(int(a), f"r{at % 3}", int(b)) for at, (a, b) in enumerate(drawn.integers(0, count, (150, 2))) if a != b}
    graph = Graph(tuple(Node(key, f"{key:03}", "thing", f"N{key}") for key in range(count)), tuple(sorted(pairs)))
    similar = {
        key: drawn.choice(np.delete(np.arange(count), key), 5, replace=False).tolist() for key in range(0, count, 2)
    }
    words = {key: float(np.float32(drawn.random() * 9)) for key in range(count)}
    cosines = {key: float(drawn.random()) for key in range(count)}
    first = drawn.choice(count, 6, replace=False).tolist()
    made = stage(tmp_path, graph, words, cosines, similar, bm25_weight=0.3, neighbours=15, policy="always")
    found = expand(made, *first, plans=[plan(HOP)])
    assert list(found.ranking.keys) == oracle(graph, similar, first, words, cosines, 0.3, 15)
    for key in found.ranking.keys:
        near, relation, direction, far = said(found, key)
        edge = (int(near), relation, int(far)) if direction == "out" else (int(far), relation, int(near))
        assert int(near) in first
        assert edge in pairs or (relation == IS_SIMILAR and key in similar[int(near)])


def test_scores_are_rescaled_to_the_unit_range() -> None:
    assert rescaled({1: 2.0, 2: 4.0, 3: 3.0}) == {1: 0.0, 2: 1.0, 3: 0.5}
    assert rescaled({1: 2.0, 2: 2.0}) == {1: 1.0, 2: 1.0}
    assert rescaled({1: 0.0}) == {1: 0.0}
    assert rescaled({}) == {}
    fused = linear({1: 2.0, 2: 4.0}, {1: 0.5}, 0.5, 10, by_key, Neighbours)
    # Node 2 has no cosine and counts as the farthest, which node 1 is, too.
    assert fused.ranking.scores == {1: 0.5, 2: 1.0}


def test_seeds_stand_before_neighbours_and_these_before_the_rest(tmp_path: Path) -> None:
    table = Cosines({"document+relations": {ASKED: {}}})
    near = expand(stage(tmp_path, TOWN, {}, {1: 0.9, 2: 0.5, 3: 0.1, 5: 0.8}, {}, seeds=1), 0)
    united = Unite(table, table)(Question(ASKED), seeds(0, 4, 2), near, Limit())  # type: ignore[arg-type]
    # 2 was the third of the list and is a neighbour, so that it moves up and the list holds it once.
    assert united.ranking.keys == (0, 1, 5, 2, 3, 4)
    assert list(united.rankings) == ["seeds", "neighbours", "rest"]
    for key in united.ranking.keys:
        leaves = united.leaves(key).values()
        assert sum(share.contribution for share in leaves) == pytest.approx(united.ranking.scores[key])
    alone = Unite(table, table)(Question(ASKED), seeds(0, 4, 2), Neighbours.nothing("No."), Limit())  # type: ignore[arg-type]
    assert (alone.ranking.keys, list(alone.rankings)) == ((0, 4, 2), ["seeds"])


def test_long_lists_are_united_in_order() -> None:
    table = Cosines({"document+relations": {ASKED: {}}})
    added = Ranking.in_order(Candidate(1_000 + at, 1.0) for at in range(50))
    near = Neighbours(added, {"bm25": added}, {"bm25": 1.0}, 0.0, "sum", seeds=20)
    united = Unite(table, table)(Question(ASKED), seeds(*range(100)), near, Limit())  # type: ignore[arg-type]
    assert united.ranking.keys == (*range(20), *range(1_000, 1_050), *range(20, 100))


def test_the_fall_back_adds_up_words_and_vectors() -> None:
    table = Cosines({"document+relations": {ASKED: {1: 0.9, 2: 0.5, 3: 0.1}}})
    found = Linear(Words({2: 4.0, 3: 2.0}), table, table, bm25_weight=0.5)(Question(ASKED), Limit())  # type: ignore[arg-type]
    # BM25: 0, 1, 0.5; cosine: 1, 0.5, 0.
    assert found.ranking.scores == pytest.approx({2: 0.75, 1: 0.5, 3: 0.25})
    bare = Linear(Words({2: 4.0, 3: 2.0}), table, NoVectors())(Question(ASKED), Limit())  # type: ignore[arg-type]
    assert (bare.ranking.keys, bare.status) == ((2, 3), "degraded")
