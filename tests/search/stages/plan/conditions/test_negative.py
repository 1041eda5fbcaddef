"""A relation that denies by itself takes the denial of a question; what it finds is worked out by hand.

Ash must not be used in gout and is used for flu; Birch is used for gout; Cedar must not be used in flu.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.domain.graph import Node, Relation
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests import oracle
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.stages.plan.films import planner_of

NODES = (
    Node(0, "n0", "drug", "Ash"),
    Node(1, "n1", "drug", "Birch"),
    Node(2, "n2", "drug", "Cedar"),
    Node(3, "n3", "disease", "gout"),
    Node(4, "n4", "disease", "flu"),
)
GRAPH = Graph(NODES, ((0, "CONTRAINDICATED_IN", 3), (2, "CONTRAINDICATED_IN", 4), (0, "TREATS", 4), (1, "TREATS", 3)))
WORDED = {
    "CONTRAINDICATED_IN": Relation("CONTRAINDICATED_IN", "must not be used in", "rules out the use of", ("unsafe in",)),
    "TREATS": Relation("TREATS", "treats", "is treated with", ("used for",)),
}


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    plain = schema_of(GRAPH)
    schema = replace(plain, relations=tuple(WORDED[one.name] for one in plain.relations))
    return planner_of(tmp_path_factory.mktemp("drugs"), GRAPH, schema)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("which drugs should not be used in gout", {"Ash"}),
        ("which drugs are not safe in gout", {"Ash"}),
        ("drugs to avoid in gout", {"Ash"}),
        ("drugs contraindicated in gout", {"Ash"}),
        ("drugs not contraindicated in gout", {"Birch", "Cedar"}),
        ("drugs that do not treat gout", {"Ash", "Cedar"}),
        ("which drugs must not be given with gout", {"Ash"}),
        ("what should not be taken in gout", {"Ash"}),
        ("drugs that can't be used by people with gout", {"Ash"}),
        ("drugs not recommended in gout", {"Ash"}),
        ("what to avoid in gout", {"Ash"}),
        ("drugs that are off limits in gout", {"Ash"}),
        ("drugs that can't treat gout", {"Ash", "Cedar"}),
        ("drugs not used for gout", {"Ash", "Cedar"}),
        ("drugs that treat flu and are not contraindicated in gout", set()),
        ("Welche Medikamente dürfen bei gout nicht gegeben werden?", {"Ash"}),
        ("Welche Medikamente sind bei gout tabu?", {"Ash"}),
        ("Quels médicaments ne doivent pas être pris avec gout ?", {"Ash"}),
        ("¿Qué medicamentos no se deben tomar con gout?", {"Ash"}),
    ],
)
def test_a_denial_goes_into_a_relation_that_denies(planner: Planner, text: str, names: set[str]) -> None:
    plan = planner(Question(text), Limit())[0].plan
    by_id = {node.id: node for node in NODES}
    own: list[tuple[int | None, Anchor]] = [(None, anchor) for anchor in plan.anchors]
    own += [(at, anchor) for at, pattern in enumerate(plan.exclude) for anchor in pattern.anchors]
    bindings = tuple(Binding(anchor.var, by_id[one], 1.0, at) for at, anchor in own for one in anchor.ids)
    assert {NODES[key].name for key in oracle.candidates(GRAPH, LinkedPlan(plan, bindings))} == names


@pytest.mark.parametrize("text", ["which drugs are safe in gout", "can Ash be used in gout", "is Ash safe in gout"])
def test_a_question_without_a_denial_never_means_such_a_relation(planner: Planner, text: str) -> None:
    plan = planner(Question(text), Limit())[0].plan
    assert "CONTRAINDICATED_IN" not in {hop.rel for hop in plan.hops}
