"""The fixed point of triplets: a graph worked by hand, and a brute-force oracle on graphs drawn by chance."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from search.adapters.adjacency_memmap import MemmapAdjacency
from search.domain.errors import DeadlineExceeded
from search.domain.graph import Node
from search.domain.triplets import Triplet
from search.interfaces import Keys
from search.stages.ground import fixpoint
from search.stages.ground.fixpoint import among, distinct, fixed_point
from tests.graphs import schema_of, write_adjacency
from tests.oracle import Graph

RELATIONS = ("r", "s")


def adjacency_of(folder: Path, graph: Graph, relations: Sequence[str] = RELATIONS) -> MemmapAdjacency:
    """Write a graph as a release would hold it, and open it."""
    folder.mkdir(exist_ok=True)
    schema = schema_of(graph, relations=relations)
    write_adjacency(graph, schema, folder)
    return MemmapAdjacency(folder, schema)


def grounded(
    adjacency: MemmapAdjacency, triplets: Sequence[Triplet], sets: Mapping[str, set[int]], types: Mapping[str, str] = {}
) -> dict[str, set[int]]:
    """Return the sets of `fixed_point`; symbols without a set may take every node of their type."""

    def of_type(name: str) -> Keys:
        codes = adjacency.schema.type_codes
        wanted = codes[types[name]] if name in types else None
        return np.array(
            [key for key, code in enumerate(adjacency.types.tolist()) if wanted in (None, code)], dtype=np.int32
        )

    given = {name: np.array(sorted(keys), dtype=np.int32) for name, keys in sets.items()}
    found = fixed_point(adjacency, triplets, given, of_type, lambda: None)
    return {name: set(keys.tolist()) for name, keys in found.items()}


def joined(graph: Graph, triplet: Triplet, head: int, tail: int) -> bool:
    """Whether an edge of the graph satisfies a triplet."""
    names = {relation for _, relation, _ in graph.edges} if triplet.relation is None else {triplet.relation}
    ways = [(head, tail)] if triplet.directed else [(head, tail), (tail, head)]
    return any((one, name, other) in graph.edges for one, other in ways for name in names)


def oracle(graph: Graph, triplets: Sequence[Triplet], sets: Mapping[str, set[int]]) -> dict[str, set[int]]:
    """Return the fixed point by its definition: nodes without a partner are removed one at a time."""
    left = {name: set(keys) for name, keys in sets.items()}
    while True:
        lonely = next(
            (
                (name, key)
                for triplet in triplets
                for name, other, forward in ((triplet.head, triplet.tail, True), (triplet.tail, triplet.head, False))
                for key in left[name]
                if not any(joined(graph, triplet, *((key, far) if forward else (far, key))) for far in left[other])
            ),
            None,
        )
        if lonely is None:
            return left
        left[lonely[0]].discard(lonely[1])


# Keys: persons 0 Ann, 1 Bo; films 2 Tide, 3 Gale, 4 Reef; genres 5 noir, 6 drama.
FILMS = Graph(
    tuple(
        Node(key, str(key), kind, name)
        for key, (kind, name) in enumerate(
            [("person", "Ann"), ("person", "Bo"), ("film", "Tide"), ("film", "Gale"), ("film", "Reef"),
             ("genre", "noir"), ("genre", "drama")]
        )
    ),
    ((2, "directed_by", 0), (3, "directed_by", 0), (4, "directed_by", 1), (2, "has", 5), (3, "has", 6), (4, "has", 5)),
)  # fmt: skip


def test_both_ends_of_every_triplet_are_narrowed_until_nothing_changes(tmp_path: Path) -> None:
    # Films by Ann: Tide, Gale; noir: Tide, Reef; both: Tide. Going back, nobody but Ann and noir is left.
    graph = adjacency_of(tmp_path, FILMS, ())
    triplets = [Triplet("y", "directed_by", "p"), Triplet("y", "has", "g")]
    found = grounded(graph, triplets, {"p": {0}, "g": {5}}, {"y": "film"})
    assert found == {"y": {2}, "p": {0}, "g": {5}}
    # With both directors, Reef is noir, too; drama has no film left when it is not asked for.
    assert grounded(graph, triplets, {"p": {0, 1}, "g": {5}}, {"y": "film"}) == {"y": {2, 4}, "p": {0, 1}, "g": {5}}


def test_a_chain_is_narrowed_from_its_far_end(tmp_path: Path) -> None:
    # Genres of films by whoever directed Reef: Reef → Bo → Reef → noir.
    graph = adjacency_of(tmp_path, FILMS, ())
    chain = [Triplet("a", "directed_by", "p"), Triplet("b", "directed_by", "p"), Triplet("b", "has", "g")]
    found = grounded(graph, chain, {"a": {4}}, {"b": "film", "p": "person", "g": "genre"})
    assert found == {"a": {4}, "p": {1}, "b": {4}, "g": {5}}


def test_a_contradiction_empties_every_set_that_it_reaches(tmp_path: Path) -> None:
    graph = adjacency_of(tmp_path, FILMS, ())
    triplets = [Triplet("y", "directed_by", "p"), Triplet("y", "has", "g")]
    assert grounded(graph, triplets, {"p": {1}, "g": {6}}, {"y": "film"}) == {"y": set(), "p": set(), "g": set()}


def test_a_direction_that_is_never_stored_finds_nothing_and_no_direction_finds_both(tmp_path: Path) -> None:
    graph = adjacency_of(tmp_path, FILMS, ())
    assert grounded(graph, [Triplet("p", "directed_by", "y")], {"p": {0}})["y"] == set()
    assert grounded(graph, [Triplet("p", "directed_by", "y", directed=False)], {"p": {0}})["y"] == {2, 3}
    assert grounded(graph, [Triplet("p", None, "y", directed=False)], {"p": {2}})["y"] == {0, 5}


def test_a_relation_that_the_graph_does_not_have_finds_nothing(tmp_path: Path) -> None:
    graph = adjacency_of(tmp_path, FILMS, ())
    assert grounded(graph, [Triplet("y", "unheard_of", "p")], {"p": {0}})["y"] == set()


def drawn(seed: int) -> tuple[Graph, list[Triplet], dict[str, set[int]]]:
    """Return a graph, triplets and starting sets drawn by chance: circles, loops, hubs, any relation, any direction."""
    chance = np.random.default_rng(seed)
    size = int(chance.integers(2, 14))
    nodes = tuple(Node(key, f"{key:02}", f"t{chance.integers(3)}", f"n{key}") for key in range(size))
    pairs = chance.integers(0, size, size=(int(chance.integers(0, 3 * size)), 2))
    edges = tuple({(int(a), RELATIONS[int(chance.integers(2))], int(b)) for a, b in pairs})
    symbols = [f"x{at}" for at in range(int(chance.integers(1, 5)))]
    triplets = [
        Triplet(
            str(chance.choice(symbols)), [*RELATIONS, None][int(chance.integers(3))], str(chance.choice(symbols)),
            bool(chance.integers(2)),
        )
        for _ in range(int(chance.integers(1, 5)))
    ]  # fmt: skip
    used = {name for triplet in triplets for name in (triplet.head, triplet.tail)}
    sets = {name: {int(k) for k in chance.integers(0, size, size=4)} for name in sorted(used) if chance.integers(2)}
    return Graph(nodes, edges), triplets, sets


@pytest.mark.parametrize("block", [1, 1_000_000])
def test_the_sets_are_those_of_the_definition_on_graphs_drawn_by_chance(
    tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fixpoint, "BLOCK", block)
    different = 0
    for seed in range(150):
        graph, triplets, sets = drawn(seed)
        everything = set(range(len(graph.nodes)))
        names = {name for triplet in triplets for name in (triplet.head, triplet.tail)}
        start = {name: sets.get(name, everything) for name in names}
        expected = oracle(graph, triplets, start)
        adjacency = adjacency_of(tmp_path / f"{block}-{seed}", graph)
        assert grounded(adjacency, triplets, sets) == expected, seed
        different += expected != start
    assert different > 100


@pytest.mark.parametrize("seed", range(60))
def test_on_trees_the_sets_are_exactly_the_nodes_of_whole_matches(tmp_path: Path, seed: int) -> None:
    chance = np.random.default_rng(1_000 + seed)
    graph, _, _ = drawn(2_000 + seed)
    size = len(graph.nodes)
    # Each symbol hangs on one before it: a tree.
    triplets = []
    for at in range(1, int(chance.integers(2, 5))):
        ends = [f"x{int(chance.integers(at))}", f"x{at}"]
        chance.shuffle(ends)
        triplets.append(
            Triplet(ends[0], [*RELATIONS, None][int(chance.integers(3))], ends[1], bool(chance.integers(2)))
        )
    names = sorted({name for triplet in triplets for name in (triplet.head, triplet.tail)})
    start = {"x0": {int(key) for key in chance.integers(0, size, size=3)}}
    choices = [sorted(start.get(name, set(range(size)))) for name in names]
    matches = [
        taken
        for keys in itertools.product(*choices)
        if all(
            joined(graph, t, (taken := dict(zip(names, keys, strict=True)))[t.head], taken[t.tail]) for t in triplets
        )
    ]
    found = grounded(adjacency_of(tmp_path / "graph", graph), triplets, start)
    assert found == {name: {taken[name] for taken in matches} for name in names}


def test_types_restrict_symbols_that_start_with_all_nodes(tmp_path: Path) -> None:
    for seed in range(60):
        graph, triplets, sets = drawn(5_000 + seed)
        names = sorted({name for triplet in triplets for name in (triplet.head, triplet.tail)})
        kinds = {node.type for node in graph.nodes}
        types = {name: sorted(kinds)[at % len(kinds)] for at, name in enumerate(names) if name not in sets}
        start = {
            name: sets.get(name, {node.key for node in graph.nodes if node.type == types.get(name)}) for name in names
        }
        adjacency = adjacency_of(tmp_path / str(seed), graph)
        assert grounded(adjacency, triplets, sets, types) == oracle(graph, triplets, start), seed


def test_time_is_checked_between_blocks_of_a_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = tuple(Node(key, f"{key:04}", "thing", f"n{key}") for key in range(1_001))
    graph = adjacency_of(tmp_path, Graph(nodes, tuple((key, "r", 0) for key in range(1, 1_001))))
    monkeypatch.setattr(fixpoint, "BLOCK", 10)
    checks = itertools.count()

    def check() -> None:
        if next(checks) == 20:
            raise DeadlineExceeded("ground")

    everything = np.arange(1_001, dtype=np.int32)
    with pytest.raises(DeadlineExceeded):
        fixed_point(graph, [Triplet("x", "r", "y")], {"x": everything, "y": everything}, lambda _: everything, check)


@pytest.mark.parametrize("size", [10, 10_000], ids=["marked", "looked up"])
def test_keys_are_found_in_a_set_alike_in_a_small_graph_and_in_a_large_one(size: int) -> None:
    keys, held = np.array([7, 3, 3, 9, 0], dtype=np.int32), np.array([3, 7, 8], dtype=np.int32)
    assert among(keys, held, size).tolist() == [True, True, True, False, False]
    assert among(keys, held[:0], size).tolist() == [False] * 5
    assert among(keys[:0], held, size).tolist() == []
    assert distinct(keys, size).tolist() == [0, 3, 7, 9]
    assert distinct(keys, size).dtype == np.int32
