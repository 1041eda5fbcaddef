"""Relations that deny, and words that permit or forbid, read by the grammar; the answers are worked out by hand.

Ash must not be used in gout and is used for flu; Birch is used for gout; Cedar must not be used in flu.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.domain.graph import Node, Relation
from search.stages.plan import Planner
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.stages.plan.films import planner_of
from tests.search.stages.plan.grammar_planners import best, by_grammar, found

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
    folder = tmp_path_factory.mktemp("drugs")
    return by_grammar(planner_of(folder, GRAPH, schema), folder, GRAPH)


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
def test_a_denied_permission_is_a_relation_that_denies(planner: Planner, text: str, names: set[str]) -> None:
    assert found(planner, GRAPH, text) == names


def test_what_is_safe_is_everything_that_no_such_relation_joins(planner: Planner) -> None:
    assert found(planner, GRAPH, "which drugs are safe in gout") == {"Birch", "Cedar"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("can Ash be used in gout", set()),
        ("is Ash safe in gout", set()),
        ("can Cedar be used in gout", {"Cedar"}),
        ("is Birch safe in gout", {"Birch"}),
    ],
)
def test_whether_a_thing_is_permitted_is_no_where_such_a_relation_joins_it(
    planner: Planner, text: str, names: set[str]
) -> None:
    plan = best(planner, text)
    assert plan.ask == "whether"
    assert "CONTRAINDICATED_IN" not in {hop.rel for hop in plan.hops}
    assert found(planner, GRAPH, text) == names
