"""More than 2,000 random plans with all parts of the language: trying everything, files, Postgres and Neo4j agree.

A shape is compiled by Neo4j once and takes ten times as long then as afterwards, so each shape is asked about many
things. `tests/search/adapters/test_whole_plans.py` holds as many shapes against Postgres and the files.
"""

from __future__ import annotations

import itertools
import random
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as drawn_from
from hypothesis import strategies as st

from search.domain.linking import LinkedPlan, Traversal
from search.domain.payloads import Links, Plans, Traversals
from search.domain.payloads.lists import Listed
from search.domain.payloads.plans import PlanEntry, Traversed
from search.domain.plan import FieldOf, Plan
from search.domain.trace import Limit
from search.services.searches.answer import answer_of
from tests import oracle
from tests.engines import Engines
from tests.graphs import mapped, schema_of
from tests.oracle import Graph
from tests.plan_parts import rebound, with_new_parts
from tests.search.adapters.test_graph_postgres import NUMBERS, RELATIONS, STRINGS, TYPES, cases
from tests.search.adapters.test_whole_plans import answers_in, answers_of, unlike

GRAPHS, PLANS = 18, 56
SHAPES = (
    ("order",), ("compare",), ("exclude",), ("negative",), ("type", "order"), ("compare", "order"),
    ("exclude", "order"), ("type", "exclude"), (),
)  # fmt: skip
"""Parts of one shape after the other, two for each graph; () is drawn."""
VALUES = (*STRINGS, *NUMBERS)

pytestmark = pytest.mark.django_db


def test_all_engines_find_what_trying_everything_finds(engines: Engines) -> None:
    seen: Counter[str] = Counter()
    shapes = itertools.cycle(SHAPES)

    # The same plans each time, so that a failure can be seen again; another number draws others.
    @drawn_from(11)
    @given(case=cases(), seed=st.integers(0, 2**32))
    @settings(max_examples=GRAPHS, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    def hold(case: tuple[Graph, LinkedPlan], seed: int) -> None:
        graph, linked = case
        rng = random.Random(seed)
        schema = schema_of(graph, TYPES, RELATIONS)
        postgres, neo4j = engines.over(graph, schema)
        with tempfile.TemporaryDirectory() as folder:
            memory = mapped(graph, schema, Path(folder), postgres)
            for parts in itertools.islice(shapes, 2):
                shape = with_new_parts(rng, graph, replace(linked, index=0), VALUES, parts)
                assert unlike(graph, shape, (postgres, memory, neo4j)) == [], shape.plan
                for _ in range(PLANS):
                    plan = rebound(rng, graph, shape, VALUES)
                    right = answers_of(graph, plan)
                    seen.update(["plan", *(parts_of(plan.plan) if right else ())])
                    for engine in (postgres, memory, neo4j):
                        found = engine.execute(plan, Limit())
                        assert answers_in(found) == right, (engine.backend, plan.plan, found.query)
                        assert told(plan, found) == expected(graph, plan, len(right)), (engine.backend, plan.plan)

    hold()
    assert seen.pop("plan") >= 2_000
    # Each part is in plans that have answers, so that not only nothing is compared with nothing.
    assert all(seen[part] for part in PARTS), seen


PARTS = ("exclude", "order", "how many", "whether", "compare", "negative", "no anchor", "direction",
         "mean")  # fmt: skip


def parts_of(plan: Plan) -> list[str]:
    """Return which of PARTS a plan has."""
    negative = ("!=", "not in", "not contains", "missing")
    has = {
        "exclude": bool(plan.exclude), "order": plan.order is not None, "compare": bool(plan.comparisons),
        "negative": any(one.op in negative and not isinstance(one.value, FieldOf) for one in plan.filters),
        "no anchor": not plan.anchors, "direction": any(hop.direction for hop in plan.hops), plan.ask: True,
    }  # fmt: skip
    return [part for part, there in has.items() if there]


def told(linked: LinkedPlan, found: Traversal) -> dict[str, Any]:
    """Return the answer that a search tells of what an engine found."""
    listed = Listed((), (), found.to_json()["total"])
    traversed = Traversed(0, found.backend, listed, truncated=found.truncated, aggregate=found.aggregate)
    traversals = Traversals((traversed,))
    return answer_of(Plans((PlanEntry(linked.plan, "user", 1.0),)), Links.from_json([linked.to_json()]), traversals, 0)


def expected(graph: Graph, linked: LinkedPlan, count: int) -> dict[str, Any]:
    """Return the answer of a plan that has so many answers and all of whose anchors are bound."""
    ask, show = linked.plan.ask, linked.plan.show
    kinds = {"which": "list", "how many": "number", "whether": "yes" if count else "no"}
    answer = {"kind": kinds.get(ask, "aggregate"), **({"value": count} if ask == "how many" else {})}
    if computed := oracle.aggregate(graph, linked):
        value, nodes, _ = computed
        answer["aggregate"] = {"function": ask, "field": show, "value": value, "nodes": nodes}
    return answer | {"count": count, "complete": True} | ({"field": show} if show else {})
