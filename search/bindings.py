"""Binds the anchors of a plan to nodes that are known by their ids."""

from __future__ import annotations

from collections.abc import Iterable

from search.domain.linking import Binding
from search.domain.plan import Plan
from search.interfaces import NodeStore

Wanted = tuple[str, int | None, str, float]
"""An anchor to bind: its variable, the index of its exclusion (None for the plan's own), a node's id, the score."""


def bindings(wanted: Iterable[Wanted], nodes: NodeStore) -> tuple[Binding, ...]:
    """Return one binding for each node that there is, in the order given; ids without a node are left out."""
    asked = list(wanted)
    keys = nodes.keys([node_id for _, _, node_id, _ in asked])
    known = [(one, key) for one, key in zip(asked, keys, strict=True) if key is not None]
    found = nodes.references([key for _, key in known])
    return tuple(
        Binding(var, node, score, exclusion) for ((var, exclusion, _, score), _), node in zip(known, found, strict=True)
    )


def own_bindings(plan: Plan, nodes: NodeStore) -> tuple[Binding, ...]:
    """Return the bindings of all anchors of a plan to the nodes whose ids they bring, each with score 1."""
    return bindings(
        ((anchor.var, exclusion, node_id, 1.0) for exclusion, anchor in plan.all_anchors for node_id in anchor.ids),
        nodes,
    )
