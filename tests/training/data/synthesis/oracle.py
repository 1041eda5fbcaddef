"""All nodes that meet a draft, by trying everything; it shares no code with what finds the answers of questions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from search.domain.graph import Node, Schema
from search.domain.plan import Order
from tests.oracle import Graph, value_of
from training.data.synthesis.parts import MadeComparison, MadeDraft, MadeWay, Passage


def answers(graph: Graph, schema: Schema, draft: MadeDraft) -> set[int]:
    """Return the keys of all nodes of the answer type that meet every condition of a draft."""
    kind = schema.node_types[draft.answer_type].name
    met = {
        node.key
        for node in graph.nodes
        if node.type == kind
        and _meets_ways(graph, schema, node.key, draft.ways)
        and all(_passes(node, one.field, one.op, one.value) for one in draft.filters)
        and (draft.passage is None or holds(node, draft.passage))
        and not any(_meets_ways(graph, schema, node.key, [way]) if way.ends else _leads(graph, schema, node.key, way)
                    for way in draft.exclusions)
        and (draft.compared is None or any(_compares(node, graph.nodes[key], draft.compared)
                                           for key in draft.compared.keys))
    }  # fmt: skip
    return _first(graph, draft.order, met) if draft.order is not None else met


def _leads(graph: Graph, schema: Schema, key: int, way: MadeWay) -> bool:
    return any(_paths(graph, schema, key, way))


def _compares(node: Node, other: Node, told: MadeComparison) -> bool:
    """Return whether any value of a node's field compares with any of another node's."""
    if node.key == other.key:
        return False
    value = other.fields.get(told.field)
    items = value if isinstance(value, list) else [] if value is None else [value]
    return any(_passes(node, told.field, told.op, one) for one in items)


def _first(graph: Graph, order: Order, keys: set[int]) -> set[int]:
    """Return the nodes at the first places: those that fewer than `limit` different values stand before."""
    assert order.limit is not None
    valued = {key: value_of(graph, order, key) for key in keys}
    falling = order.direction == "desc"
    found = set()
    for key, own in valued.items():
        before = {one for one in valued.values() if one is not None and one != own
                  and (own is None or (one > own if falling else one < own))}  # fmt: skip
        if len(before) < order.limit:
            found.add(key)
    return found


def holds(node: Node, passage: Passage) -> bool:
    """Return whether the words of a node include those of a passage."""
    texts = [node.name, *node.aliases]
    for value in node.fields.values():
        texts += [str(item) for item in value] if isinstance(value, list) else [str(value)]
    return passage.words <= {word for text in texts for word in re.findall(r"\w+", text.casefold())}


def _meets_ways(graph: Graph, schema: Schema, key: int, ways: Sequence[MadeWay]) -> bool:
    if not ways:
        return True
    for row in itertools.product(*(way.ends for way in ways)):
        if key not in row and all(
            any(path[-1] == end and not set(path[1:-1]) & set(row) for path in _paths(graph, schema, key, way))
            for way, end in zip(ways, row, strict=True)
        ):
            return True
    return False


def _paths(graph: Graph, schema: Schema, key: int, way: MadeWay) -> Iterator[tuple[int, ...]]:
    """Yield every path from a node that follows the steps of a way."""
    paths = [(key,)]
    for step in way.steps:
        name, kind = schema.relations[step.relation].name, schema.node_types[step.far_type].name
        longer = []
        for path in paths:
            for source, relation, target in graph.edges:
                if relation != name:
                    continue
                if source == path[-1] and "out" in step.directions and graph.nodes[target].type == kind:
                    longer.append((*path, target))
                if target == path[-1] and "in" in step.directions and graph.nodes[source].type == kind:
                    longer.append((*path, source))
        paths = longer
    yield from paths


def _passes(node: Node, field: str, op: str, value: object) -> bool:
    own = node.fields.get(field)
    return any(_compared(one, op, value) for one in (own if isinstance(own, list) else [own]) if one is not None)


def _compared(one: object, op: str, value: object) -> bool:
    if op == "between":
        assert isinstance(value, list)
        return _compared(one, ">=", value[0]) and _compared(one, "<=", value[1])
    if op == "=" and isinstance(one, str):
        return one.lower() == str(value).lower()
    assert isinstance(one, str) == isinstance(value, str)
    return {
        "=": one == value, "<": one < value, "<=": one <= value, ">": one > value, ">=": one >= value,  # type: ignore[operator]
    }[op]  # fmt: skip
