"""Planners over small bases that read by the grammar."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from search.adapters import columns_memmap, field_values, values_memmap
from search.bindings import own_bindings
from search.domain.linking import LinkedPlan
from search.domain.plan import Plan
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests import oracle
from tests.oracle import Graph


def by_grammar(planner: Planner, folder: Path, graph: Graph) -> Planner:
    """Return a planner with the columns and values of a graph that reads by the grammar."""
    for part in ("columns", "values"):
        (folder / part).mkdir(exist_ok=True)
    columns_memmap.build(folder / "columns", planner.schema, graph.nodes)
    field_values.build(folder / "values", planner.schema, graph.nodes)
    return replace(
        planner,
        columns=columns_memmap.MemmapColumns(folder / "columns", planner.schema),
        values=values_memmap.MemmapValues(folder / "values", planner.schema),
    )


def best(planner: Planner, text: str) -> Plan:
    """Return the first plan of a question."""
    return planner(Question(text), Limit())[0].plan


def found(planner: Planner, graph: Graph, text: str) -> Collection[str]:
    """Return the names that the first plan of a question finds, by the matcher that tries everything."""
    plan = replace(best(planner, text), order=None)
    linked = LinkedPlan(plan, own_bindings(plan, planner.nodes))
    return {graph.nodes[key].name for key in oracle.candidates(graph, linked)}
