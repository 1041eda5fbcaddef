"""The path that shows why an exclusion is not met, over a graph that is small enough to follow by hand."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path as Folder

import pytest

from search.adapters.graph_memmap import MemmapGraph
from search.breaks import Breaks
from search.domain.conditions import Conditions
from search.domain.evidence import Path, PathEdge, PathNode
from search.domain.graph import Node
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Exclusion, Hop, Plan, Target
from search.domain.trace import Limit
from tests.graphs import Nodes, mapped, schema_of
from tests.oracle import Graph
from tests.search.adapters.test_graph_memmap import Beyond

DRUG, OTHER, DISEASE, SHOP, TOWN = range(5)
GRAPH = Graph(
    (
        Node(DRUG, "drug", "drug", "Amol"), Node(OTHER, "other", "drug", "Bexin"),
        Node(DISEASE, "disease", "disease", "asthma"), Node(SHOP, "shop", "shop", "Corner"),
        Node(TOWN, "town", "town", "Umeå"),
    ),
    ((DRUG, "treats", DISEASE), (DRUG, "sold at", SHOP), (OTHER, "sold at", SHOP), (SHOP, "lies in", TOWN)),
)  # fmt: skip


@pytest.fixture
def graph() -> Iterator[MemmapGraph]:
    schema = schema_of(GRAPH)
    with tempfile.TemporaryDirectory() as folder:
        yield mapped(GRAPH, schema, Folder(folder), Beyond())


def broken(graph: MemmapGraph, plan: Plan, *bindings: Binding, paths: tuple[Path, ...] = ()) -> list[list[str]]:
    """Return the names and relations on each path that breaks the only exclusion of a plan, for the first drug."""
    problems: list[str] = []
    breaks = Breaks(graph, Nodes(GRAPH, schema_of(GRAPH)), LinkedPlan(plan, bindings), Limit(), problems)
    [found] = breaks.of({DRUG: Conditions(0, "not_met", exclude=("not_met",))}, {DRUG: paths})[DRUG]
    assert (found.status, problems) == ("not_met", [])
    told = []
    for path in found.breaks:
        parts = [path.nodes[0].node.name]
        for edge, step in zip(path.edges, path.nodes[1:], strict=True):
            parts += [edge.relation, step.node.name]
        told.append(parts)
    return told


def test_the_path_leads_from_the_patterns_anchor_to_the_result(graph: MemmapGraph) -> None:
    pattern = Exclusion((Anchor("u", "Umeå"),), (Hop("T", "sold at", "s"), Hop("s", "lies in", "u")))
    found = broken(
        graph, Plan(target=Target("T", ("drug",)), exclude=(pattern,)), Binding("u", GRAPH.nodes[TOWN], 1, 0)
    )
    assert found == [["Umeå", "lies in", "Corner", "sold at", "Amol"]]


def test_a_pattern_without_an_anchor_is_shown_from_the_result_outwards(graph: MemmapGraph) -> None:
    pattern = Exclusion((), (Hop("T", "sold at", "s"), Hop("s", "lies in", "u")))
    assert broken(graph, Plan(target=Target("T"), exclude=(pattern,))) == [
        ["Amol", "sold at", "Corner", "lies in", "Umeå"]
    ]  # fmt: skip


def test_an_exclusion_in_the_middle_is_shown_for_the_node_on_the_results_path(graph: MemmapGraph) -> None:
    plan = Plan(
        (Anchor("a", "Bexin"),), (Hop("a", "sold at", "s"), Hop("T", "sold at", "s")), Target("T"),
        exclude=(Exclusion((), (Hop("s", "lies in", "x"),)),),
    )  # fmt: skip
    steps = [PathNode(GRAPH.nodes[key], var) for key, var in ((OTHER, "a"), (SHOP, "s"), (DRUG, "T"))]
    path = Path(tuple(steps), (PathEdge("sold at", "out"), PathEdge("sold at", "in")))
    assert broken(graph, plan, Binding("a", GRAPH.nodes[OTHER], 1), paths=(path,)) == [["Corner", "lies in", "Umeå"]]


def test_a_name_that_is_the_result_itself_needs_no_path(graph: MemmapGraph) -> None:
    plan = Plan(target=Target("T"), exclude=(Exclusion((Anchor("T", "Amol"),), ()),))
    assert broken(graph, plan, Binding("T", GRAPH.nodes[DRUG], 1, 0)) == []
