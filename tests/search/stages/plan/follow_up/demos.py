"""The demo knowledge bases with the tools of a follow-up: real indexes, and an engine that tries every edge."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from search.adapters import adjacency_memmap, columns_memmap, field_values, mentions_memmap, values_memmap
from search.domain.follow_up import Earlier, Followed, FollowUpReading
from search.domain.graph import Node, Schema
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Hop, Plan, Target
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan.follow_up.read import FollowUp
from tests import oracle
from tests.fakes import HashEncoder
from tests.graphs import Nodes, write_adjacency
from tests.search.demo_schema import DEMO, demo_schema
from tests.search.stages.plan.follow_up.backtracking import Backtracking
from tests.search.stages.plan.land import land_graph


@dataclass(frozen=True)
class Demo:
    """A demo knowledge base: its graph, its schema, and the stage that reads follow-ups over it."""

    graph: oracle.Graph
    schema: Schema
    stage: FollowUp

    def read(self, before: Plan, words: str, wording: str = "What was asked before?") -> FollowUpReading:
        """Return how the words are read after a search with this plan."""
        followed = Followed((Earlier("1", wording),), wording, before)
        return self.stage(Question(words, follows=followed), Limit())

    def answers(self, plan: Plan) -> list[str]:
        """Return the names that a plan finds in its order if it has one, else sorted."""
        names = [self.graph.nodes[key].name for key in self.keys(plan)]
        return names if plan.order is not None else sorted(names)

    def keys(self, plan: Plan) -> list[int]:
        """Return the keys of the nodes that a plan finds; the plans inside its anchors are executed first."""
        ids = {node.id: node for node in self.graph.nodes}
        pairs = [(plan.anchors, None), *((pattern.anchors, at) for at, pattern in enumerate(plan.exclude))]
        bound = tuple(
            Binding(anchor.var, node, 1.0, at) for anchors, at in pairs for anchor in anchors
            for node in ([ids[one] for one in anchor.ids] if anchor.plan is None
                         else [self.graph.nodes[key] for key in self.keys(anchor.plan)])
        )  # fmt: skip
        return [one.key for one in self.stage.graph.execute(LinkedPlan(plan, bound), Limit()).candidates]

    def node(self, name: str, label: str) -> Node:
        """Return the node with this name and type."""
        return next(node for node in self.graph.nodes if node.name == name and node.type == label)

    def one_hop(self, name: str, label: str, relation: str, direction: str | None, target: str) -> Plan:
        """Return the plan of a question with one name and one hop."""
        anchor = Anchor("A1", name, label, "name", (self.node(name, label).id,))
        hop = Hop("A1", relation, "T", target, direction)  # type: ignore[arg-type]
        return Plan((anchor,), (hop,), Target("T", (target,)))


def _counted(name: str) -> Schema:
    """Return the schema of a demo with the number of nodes that have each field, as an import counts them."""
    declared = json.loads((DEMO / name / "kb.json").read_text())["node_types"]
    schema = demo_schema(name)
    types = tuple(
        replace(kind, fields=tuple(
            replace(one, coverage=declared[kind.name]["fields"][one.name].get("count", kind.count))
            for one in kind.fields
        ))
        for kind in schema.node_types
    )  # fmt: skip
    return replace(schema, node_types=types)


def demo(name: str, folder: Path) -> Demo:
    """Read a demo's bundle and build its indexes in an empty folder."""
    schema = _counted(name)
    rows = [json.loads(line) for line in (DEMO / name / "nodes.jsonl").read_text().splitlines()]
    nodes = tuple(
        Node(key, row["id"], row["type"], row["name"], tuple(row.get("aliases", ())), fields=row.get("fields", {}))
        for key, row in enumerate(sorted(rows, key=lambda row: row["id"].encode()))
    )
    keys = {node.id: node.key for node in nodes}
    lines = [line.split("\t") for line in (DEMO / name / "edges.tsv").read_text().splitlines()[1:]]
    graph = oracle.Graph(nodes, tuple((keys[source], relation, keys[target]) for source, relation, target, *_ in lines))
    return built(graph, schema, folder)


def land(folder: Path) -> Demo:
    """Return the base of states, cities and rivers of the tests of the reading, with its indexes in an empty folder."""
    graph, schema = land_graph()
    return built(graph, schema, folder)


def built(graph: oracle.Graph, schema: Schema, folder: Path) -> Demo:
    """Build the indexes of a graph in an empty folder, and return it with what reads follow-ups over it."""
    for part in ("adjacency", "mentions", "values", "columns"):
        (folder / part).mkdir(parents=True)
    write_adjacency(graph, schema, folder / "adjacency")
    called = [(node.key, name, alias) for node in graph.nodes for name, alias in
              [(node.name, False), *((one, True) for one in node.aliases)]]  # fmt: skip
    mentions_memmap.build(folder / "mentions", called)
    field_values.build(folder / "values", schema, graph.nodes)
    columns_memmap.build(folder / "columns", schema, graph.nodes)
    stage = FollowUp(
        mentions=mentions_memmap.MemmapMentions(folder / "mentions"),
        adjacency=adjacency_memmap.MemmapAdjacency(folder / "adjacency", schema),
        nodes=Nodes(graph, schema),
        encoder=HashEncoder(dimensions=4096),
        schema=schema,
        graph=Backtracking(graph),
        columns=columns_memmap.MemmapColumns(folder / "columns", schema),
        values=values_memmap.MemmapValues(folder / "values", schema),
    )
    return Demo(graph, schema, stage)
