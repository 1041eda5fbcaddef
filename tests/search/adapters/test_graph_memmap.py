"""The engine on the memory-mapped graph: against the brute-force matcher, and what it leaves to the engine beyond."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from search.adapters.graph_matching.paths import Matches
from search.adapters.graph_memmap import MemmapGraph
from search.domain.evidence import PathEdge
from search.domain.filtering import NAME
from search.domain.graph import ANY, Node
from search.domain.linking import Binding, LinkedPlan, Traversal
from search.domain.ordering import Value
from search.domain.plan import Anchor, EdgeField, FieldOf, Filter, Hop, Order, Plan, Target
from search.domain.trace import Limit
from tests import oracle
from tests.graphs import mapped, schema_of
from tests.search.adapters.test_graph_postgres import RELATIONS, TYPES, cases, joined_anchors

MANY = 10_000


class Beyond:
    """An engine that only says that it was asked."""

    backend = "beyond"

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        return Traversal(linked.index, self.backend, ())

    def paths(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int = 1) -> Matches:
        raise LookupError("beyond")

    def matching(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        raise LookupError("beyond")

    def order_values(
        self, order: Order, keys: Sequence[int], limit: Limit, among: Collection[int] | None = None
    ) -> dict[int, Value | None]:
        raise LookupError("beyond")

    def edge_values(
        self, linked: LinkedPlan, of: EdgeField, keys: Sequence[int], limit: Limit
    ) -> dict[int, list[Value]]:
        raise LookupError("beyond")


def engine(graph: oracle.Graph, directory: Path, most_rows: int = MANY) -> MemmapGraph:
    schema = schema_of(graph, TYPES, RELATIONS)
    return mapped(graph, schema, directory, Beyond(), most_rows)


@pytest.fixture
def directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def without_what_it_leaves(graph: oracle.Graph, linked: LinkedPlan) -> LinkedPlan:
    """The plan without conditions on names, with a named relation for each hop, and fields that its edges have."""
    schema = schema_of(graph, TYPES, RELATIONS)
    hops = tuple(
        replace(
            hop, where=tuple(one for one in hop.where if hop.rel != ANY and one.field in schema.edge_fields(hop.rel))
        )
        for hop in linked.plan.hops
    )
    filters = tuple(one for one in linked.plan.filters if one.field != NAME)
    return replace(linked, plan=replace(linked.plan, hops=hops, filters=filters))


def unlike_the_oracle(graph: oracle.Graph, linked: LinkedPlan, most: int, directory: Path) -> str:
    """Return how the engine differs from the matcher, or nothing."""
    expected = oracle.candidates(graph, linked)
    event(f"{'some' if expected else 'no'} candidates for {len(linked.plan.anchors)} anchors")
    memory = engine(graph, directory)
    found = memory.execute(linked, Limit())
    assume(found.backend == memory.backend)
    scores = {candidate.key: candidate.score for candidate in found.candidates}
    if scores != expected or len(scores) != len(found.candidates):
        return f"candidates {scores} instead of {expected}\n{found.query}"
    if list(found.candidates) != sorted(found.candidates, key=lambda c: (-c.score, c.key)):
        return "order"
    everybody = range(len(graph.nodes))
    if linked.is_bound and memory.matching(linked, everybody, Limit()) != set(expected):
        return "matching"
    loose = replace(linked, plan=replace(linked.plan, anchors=()), bindings=())
    connected = all(var in _reached(loose.plan) for var in loose.plan.variables)
    if connected and memory.matching(loose, everybody, Limit()) != oracle.matching(graph, loose, everybody):
        return "matching without anchors"
    return _unlike_paths(graph, linked, memory, expected, most)


def _reached(plan: Plan) -> set[str]:
    reached = {plan.target.var}
    for _ in plan.hops:
        for hop in plan.hops:
            if reached & {hop.source, hop.to_var}:
                reached |= {hop.source, hop.to_var}
    return reached


def _unlike_paths(
    graph: oracle.Graph, linked: LinkedPlan, memory: MemmapGraph, expected: dict[int, float], most: int
) -> str:
    paths = memory.paths(linked, range(len(graph.nodes)), Limit(), most)
    if set(paths) != set(expected):
        return f"paths of {set(paths)} instead of {set(expected)}"
    for key, several in paths.items():
        if not 1 <= len(several) <= most or not all(oracle.is_valid(graph, linked, match, key) for match in several):
            return f"paths of {key}: {several}"
        bound = {(path.nodes[0].var, path.nodes[0].node.key) for path in several[0]}
        best = sum(b.score for b in linked.bindings if (b.var, b.node.key) in bound)
        if best != expected[key]:
            return f"the first paths of {key} have the score {best} instead of {expected[key]}"
    return ""


@given(case=cases(), most=st.integers(1, 3))
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
def test_the_engine_finds_what_trying_everything_finds(
    directory: Path, case: tuple[oracle.Graph, LinkedPlan], most: int
) -> None:
    graph, linked = case
    assert unlike_the_oracle(graph, without_what_it_leaves(graph, linked), most, directory) == ""


@given(case=cases())
@settings(max_examples=50, suppress_health_check=list(HealthCheck))
def test_looking_far_nodes_up_and_reading_all_edges_find_the_same(
    monkeypatch: pytest.MonkeyPatch, directory: Path, case: tuple[oracle.Graph, LinkedPlan]
) -> None:
    # With eight nodes it never pays to look a far node up, unless that costs nothing.
    monkeypatch.setattr("search.adapters.graph_memmap.walk.LOOK_UP", 0)
    graph, linked = case
    assert unlike_the_oracle(graph, without_what_it_leaves(graph, linked), 2, directory) == ""


def test_scores_are_added_in_the_order_of_the_plan_s_anchors_whatever_is_joined_first(directory: Path) -> None:
    several = list(joined_anchors())
    graph = several[0][0]
    memory = engine(graph, directory)
    for _, linked in several:
        found = memory.execute(linked, Limit())
        assert (found.backend, dict(found.candidates)) == ("memory", oracle.candidates(graph, linked)), linked.plan


FILMS = oracle.Graph(
    (Node(0, "a", "person", "Ada"), *(Node(key, f"f{key}", "film", f"Film {key}") for key in range(1, 6))),
    tuple((0, "acted", key) for key in range(1, 6)),
)
ADA = (Binding("a", FILMS.nodes[0], 0.9),)
PLAN = Plan((Anchor("a", "Ada"),), (Hop("a", "acted", "T"),), Target("T", ("film",)))


def test_what_the_files_cannot_answer_is_left_to_the_engine_beyond(directory: Path) -> None:
    memory = engine(FILMS, directory)
    filtered = replace(PLAN, filters=(Filter("T", "name", ">", "Film 2"),))
    compared = replace(PLAN, filters=(Filter("T", "year", ">", FieldOf("a", "born")),))
    assert memory.execute(LinkedPlan(PLAN, ADA), Limit()).backend == "memory"
    for plan in (filtered, compared):
        assert memory.execute(LinkedPlan(plan, ADA), Limit()).backend == "beyond"
        with pytest.raises(LookupError):
            memory.paths(LinkedPlan(plan, ADA), [1], Limit())


def test_a_hop_over_any_relation_says_in_its_path_which_one_it_took(directory: Path) -> None:
    graph = oracle.Graph(
        FILMS.nodes, ((0, "acted", 1), (0, "directed", 2), (3, "is about", 0), (4, "cites", 5), (0, "knows", 0))
    )
    linked = LinkedPlan(replace(PLAN, hops=(Hop("a", "*", "T"),)), ADA)
    memory = engine(graph, directory)
    found = memory.execute(linked, Limit())
    assert (found.backend, [candidate.key for candidate in found.candidates]) == ("memory", [1, 2, 3])
    taken = {key: match[0].edges for key, [match] in memory.paths(linked, [1, 2, 3, 4, 5], Limit()).items()}
    assert taken == {
        1: (PathEdge("acted", "out"),),
        2: (PathEdge("directed", "out"),),
        3: (PathEdge("is about", "in"),),
    }


def test_a_step_with_too_many_matches_is_left_to_the_engine_beyond_and_never_cut(directory: Path) -> None:
    linked = LinkedPlan(PLAN, ADA)
    assert engine(FILMS, directory, most_rows=4).execute(linked, Limit()).backend == "beyond"
    found = engine(FILMS, directory, most_rows=5).execute(linked, Limit())
    assert ([candidate.key for candidate in found.candidates], found.truncated) == ([1, 2, 3, 4, 5], False)


def test_paths_and_matches_are_walked_from_the_keys_where_the_anchors_have_too_many_edges(directory: Path) -> None:
    linked, small = LinkedPlan(PLAN, ADA), engine(FILMS, directory, most_rows=4)
    assert small.matching(linked, [0, 2], Limit()) == {2}
    [[path]] = small.paths(linked, [3], Limit())[3]
    assert [node.node.key for node in path.nodes] == [0, 3]


def test_the_result_says_that_there_were_more_candidates(directory: Path) -> None:
    found = engine(FILMS, directory).execute(LinkedPlan(PLAN, ADA), Limit(), rows=2)
    assert ([candidate.key for candidate in found.candidates], found.truncated, found.unlisted) == ([1, 2], True, 3)
    assert found.to_json()["total"] == 5
    assert found.query == "a: 1 entities\na –acted– T: 5 rows"
