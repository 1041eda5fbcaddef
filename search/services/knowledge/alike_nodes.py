"""alike_nodes: nodes that are like a node, by the meaning of their texts and by the neighbours that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from search import wiring
from search.domain.errors import StageError
from search.domain.trace import Limit
from search.domain.vector_kinds import DOCUMENT, WHOLE
from search.interfaces import Vectors
from search.models import Release
from search.services.knowledge.describe_node import graph_of
from search.shared_neighbours import alike_in_graph

MOST = 8
SECONDS = 3.0
"""Time limit in seconds of the nearest neighbours among the vectors."""


@dataclass(frozen=True)
class AlikeNodes:
    """Nodes of the same type, most alike first, in two lists; a reason stands for a list that could not be made.

    Each entry is a node's `id`, `type` and `name`; `by_meaning` with its `cosine`, `by_graph` with the number of
    `shared` neighbours and the names of the rarest (`over`).
    """

    by_meaning: list[dict[str, Any]]
    by_graph: list[dict[str, Any]]
    no_meaning: str = ""
    no_graph: str = ""


def alike_nodes(release: Release, node_id: str) -> AlikeNodes | None:
    """Return what is like a node of a release, or None if there is no such node."""
    if graph_of(release) is None:
        reason = "The index files of this release are not on this machine."
        return AlikeNodes([], [], reason, reason)
    tools = wiring.tools(release)
    [key] = tools.nodes.keys([node_id])
    if key is None:
        return None
    meant, why_not = _by_meaning(tools, key)
    graph = _by_graph(tools, key)
    no_graph = "" if graph else "No other entity of its type shares a neighbour with it."
    return AlikeNodes(meant, graph, why_not, no_graph)


def _by_meaning(tools: wiring.Tools, key: int) -> tuple[list[dict[str, Any]], str]:
    kind = next((one for one in (DOCUMENT, WHOLE) if one in tools.vectors.kinds), None)
    if kind is None:
        return [], "This release has no vectors of texts."
    try:
        vector = _vector_of(tools, kind, key)
        if vector is None:
            return [], "This entity has no text of its own."
        [node] = tools.nodes.references([key])
        found = tools.vectors.nearest(kind, vector, MOST + 1, [node.type], Limit.seconds(SECONDS))
    except StageError as error:
        return [], f"The vectors could not be searched: {error.reason}."
    near = [(one.key, one.score) for one in found if one.key != key][:MOST]
    nodes = tools.nodes.references([key for key, _ in near])
    shown = [_reference(node) | {"cosine": round(cosine, 3)} for node, (_, cosine) in zip(nodes, near, strict=True)]
    return shown, "" if shown else "There is no other entity of its type."


def _vector_of(tools: wiring.Tools, kind: str, key: int) -> Vectors | None:
    """Return the node's own vector of a kind, of unit length; None if it has none."""
    matrix = tools.vectors.matrix(kind)
    at = int(np.searchsorted(matrix.keys, key))
    if at >= len(matrix.keys) or int(matrix.keys[at]) != key:
        return None
    row: Vectors = matrix.rows[at].astype(np.float32)
    length = float(np.linalg.norm(row))
    return row / length if length else None


def _by_graph(tools: wiring.Tools, key: int) -> list[dict[str, Any]]:
    alike = alike_in_graph(tools.adjacency, key, MOST)
    nodes = tools.nodes.references([one.key for one in alike])
    over = {node.key: node.name for node in tools.nodes.references(sorted({k for one in alike for k in one.over}))}
    return [
        _reference(node) | {"shared": one.shared, "over": [over[k] for k in one.over]}
        for node, one in zip(nodes, alike, strict=True)
    ]


def _reference(node: Any) -> dict[str, Any]:
    return {"id": node.id, "type": node.type, "name": node.name}
