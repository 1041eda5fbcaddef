"""Anchors are bound to the nodes whose ids they bring, exclusions' anchors too; ids without a node change nothing."""

from __future__ import annotations

from search.bindings import bindings, own_bindings
from search.domain.graph import Node
from search.domain.plan import Anchor, Exclusion, Plan
from tests.graphs import Nodes, schema_of
from tests.oracle import Graph

GRAPH = Graph((Node(0, "a", "lamp", "Alba"), Node(1, "b", "lamp", "Bruma"), Node(2, "c", "brand", "Norling")), ())
NODES = Nodes(GRAPH, schema_of(GRAPH))


def test_ids_without_a_node_leave_the_bindings_behind_them_as_they_are() -> None:
    excluded = Exclusion((Anchor("E1", "Norling", ids=("c", "gone too")),))
    plan = Plan((Anchor("A1", "Alba", ids=("gone", "a")),), exclude=(excluded,))
    bound = own_bindings(plan, NODES)
    assert [(one.var, one.exclusion, one.node.id, one.score) for one in bound] == [
        ("A1", None, "a", 1.0), ("E1", 0, "c", 1.0),
    ]  # fmt: skip


def test_recorded_scores_stay_with_their_nodes() -> None:
    bound = bindings([("A1", None, "gone", 0.9), ("A1", None, "b", 0.8), ("A2", 3, "a", 0.7)], NODES)
    assert [(one.var, one.exclusion, one.node.name, one.score) for one in bound] == [
        ("A1", None, "Bruma", 0.8), ("A2", 3, "Alba", 0.7),
    ]  # fmt: skip


def test_a_plan_without_ids_is_bound_to_nothing() -> None:
    assert own_bindings(Plan((Anchor("A1", "Alba"),)), NODES) == ()
