"""No plan is sure that walks where no word leads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.domain.graph import Relation
from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from search.stages.plan.calibrate import Grounds
from tests.graphs import schema_of
from tests.search.stages.plan.films import graph_of, planner_of

SURE = 0.9
"""From this probability on pages say *almost surely right*."""


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    """States that border each other, two that border none, and the country that all of them belong to."""
    names = [("state", name) for name in ("Texas", "Ohio", "Iowa", "Utah", "Hawaii", "Guam")]
    facts = [("Texas", "BORDERS", "Ohio"), ("Ohio", "BORDERS", "Iowa"), ("Iowa", "BORDERS", "Utah")]
    facts += [(name, "PART_OF", "USA") for _, name in names]
    graph = graph_of([*names, ("country", "USA")], facts)
    relations = (
        Relation("BORDERS", description="borders", inverse="borders"),
        Relation("PART_OF", description="is a state of", inverse="has the state"),
    )
    plain = schema_of(graph)
    own = {relation.name: relation for relation in relations}
    schema = replace(plain, relations=tuple(own[relation.name] for relation in plain.relations))
    return planner_of(tmp_path_factory.mktemp("states"), graph, schema)


def facts(plan: ScoredPlan) -> Grounds:
    assert plan.grounds is not None
    return Grounds(**plan.grounds)


def plans(planner: Planner, text: str) -> list[ScoredPlan]:
    return planner(Question(text), Limit())


@pytest.mark.parametrize(
    "text", ["which state borders Hawaii", "states bordering Guam", "what states does Hawaii border"]
)
def test_a_walk_over_the_country_that_no_word_says_is_not_sure(states: Planner, text: str) -> None:
    best = plans(states, text)[0]
    assert best.probability < SURE


def test_a_relation_that_is_said_more_often_than_it_is_walked_is_not_sure(states: Planner) -> None:
    text = "states that border states that border states that border states that border Texas"
    assert plans(states, text)[0].probability < SURE


def test_walks_whose_hops_have_a_word_each_raise_no_doubt(states: Planner) -> None:
    assert not facts(plans(states, "which states border Texas")[0]).unsaid
    assert not facts(plans(states, "states that border states that border Texas")[0]).unsaid
