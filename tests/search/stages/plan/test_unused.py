"""No plan is sure that does nothing with a condition word, or that walks where no word leads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.domain.graph import Relation
from search.domain.plan import Plan, ScoredPlan, Target
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from search.stages.plan.scoring.calibrate import Calibration, Grounds, calibrated
from tests.graphs import schema_of
from tests.search.stages.plan.demo_planners import PlannedDemo, planned
from tests.search.stages.plan.films import graph_of, planner_of

SURE = 0.9
"""From this probability on pages say *almost surely right*."""


@pytest.fixture(scope="module")
def products(tmp_path_factory: pytest.TempPathFactory) -> PlannedDemo:
    return planned("products", tmp_path_factory.mktemp("products"))


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
    return Grounds.from_json(plan.grounds)


@pytest.mark.parametrize(
    "text",
    [
        "all products by Ostervik",
        "show me all the products by Ostervik",
        "only show me things rated 4.8 or better",
        "brands based in Ireland or Portugal",
        "which is heavier, the Godwit 2 Tent or the Godwit 4 Family Tent?",
        "the three heaviest tents",
        "lamps that cost less than 40 euros",
        "which of your products can't be bought in any shop at all?",
        "products in both red and navy",
    ],
)
def test_words_that_the_plan_uses_raise_no_doubt(products: PlannedDemo, text: str) -> None:
    assert facts(products.best(text)).unused == 0


def plans(planner: Planner, text: str) -> list[ScoredPlan]:
    return planner(Question(text), Limit())


@pytest.mark.parametrize(
    "text", ["which state borders Hawaii", "states bordering Guam", "what states does Hawaii border"]
)
def test_a_walk_over_the_country_that_no_word_says_is_not_sure(states: Planner, text: str) -> None:
    best = plans(states, text)[0]
    assert facts(best).unsaid
    assert best.probability < SURE


def test_a_relation_that_is_said_more_often_than_it_is_walked_is_not_sure(states: Planner) -> None:
    text = "states that border states that border states that border states that border Texas"
    best = plans(states, text)[0]
    assert facts(best).unsaid


def test_walks_whose_hops_have_a_word_each_raise_no_doubt(states: Planner) -> None:
    assert not facts(plans(states, "which states border Texas")[0]).unsaid
    assert not facts(plans(states, "states that border states that border Texas")[0]).unsaid


def test_a_learned_probability_is_no_reason_to_be_sure_of_what_a_plan_leaves_out() -> None:
    plan = ScoredPlan(Plan(target=Target("T")), "learned", 0.97)
    assert [one.probability for one in calibrated([plan], Grounds(0.97))] == [0.97]
    assert [one.probability for one in calibrated([plan], Grounds(0.97, unused=1))] == [0.85]
    # A trained planner may have learned a walk that no word says.
    assert [one.probability for one in calibrated([plan], Grounds(0.97, unsaid=True))] == [0.97]
    certain = Calibration({}, 30.0)
    assert [one.probability for one in calibrated([plan], Grounds(0.97, unused=2), certain)] == [0.85]


def test_facts_are_read_as_they_are_written() -> None:
    assert Grounds.from_json(Grounds(0.5, unused=2, unsaid=True).to_json()) == Grounds(0.5, unused=2, unsaid=True)
