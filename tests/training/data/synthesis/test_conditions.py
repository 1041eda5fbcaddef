"""Questions with exclusions, orders, comparisons and numbers: all their answers, their plan, and their words."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from search.domain.graph import Field, NodeType
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Order, Plan
from search.interfaces import Keys
from tests import oracle as plans
from tests.training.data.synthesis import oracle
from tests.training.data.synthesis.worlds import NAMES, Tools, base_of, demo, tools_of
from training.data.synthesis import synthesise
from training.data.synthesis.base import Base
from training.data.synthesis.condition_words import compared, excluded, ordered
from training.data.synthesis.make import MadeQuestion, Maker
from training.data.synthesis.parts import MadeComparison
from training.data.synthesis.plans import plan_of
from training.data.synthesis.recipes import CONDITIONED, KINDS, Recipe

EACH = 8
"""Questions of each kind that are held against the oracle."""


@pytest.fixture(scope="module", params=NAMES)
def tools(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return tools_of(tmp_path_factory.mktemp(request.param), *demo(request.param))


def questions(tools: Tools, number: int, kinds: tuple[Recipe, ...] = CONDITIONED) -> list[MadeQuestion]:
    maker = Maker(tools, Base.of(tools), kinds)
    chance = np.random.default_rng(3)
    allowed = [node for node in tools.graph.nodes if tools.schema.node_type(node.type).answerable]
    drawn = (allowed[int(chance.integers(len(allowed)))] for _ in itertools.count())
    return list(itertools.islice(filter(None, (maker.question(node, chance) for node in drawn)), number))


def linked(tools: Tools, plan: Plan) -> LinkedPlan:
    """Return a plan bound to the nodes whose ids it has."""
    by_id = {node.id: node for node in tools.graph.nodes}
    own = [(None, anchor) for anchor in plan.anchors]
    patterns = [(at, anchor) for at, one in enumerate(plan.exclude) for anchor in one.anchors]
    bound = [Binding(anchor.var, by_id[one], 1.0, at) for at, anchor in [*own, *patterns] for one in anchor.ids]
    return LinkedPlan(plan, tuple(bound))


def answers_of(tools: Tools, plan: Plan) -> set[int]:
    """Return the answers of a plan by the oracle of the plan language."""
    asked = linked(tools, plan)
    if plan.order is not None:
        return {key for key, *_ in plans.answers(tools.graph, asked)}
    return set(plans.candidates(tools.graph, asked))


def test_the_answers_are_all_nodes_that_meet_the_question(tools: Tools) -> None:
    kinds = Counter[str]()
    for question in questions(tools, 300):
        kinds[question.draft.kind] += 1
        # The oracle reads the whole graph for each question.
        if kinds[question.draft.kind] <= EACH:
            assert set(question.answers) == oracle.answers(tools.graph, tools.schema, question.draft), question
    assert set(kinds) >= {"one hop, but not", "one hop, without any", "the most", "how many, one hop", "compared"}


def test_the_plan_beside_a_question_finds_its_answers(tools: Tools) -> None:
    """Plans of at most two variables beside the target, because the oracle tries everything."""

    def ids(keys: Keys) -> list[str]:
        return tools.nodes.ids(list(keys))

    tried = Counter[str]()
    for question in questions(tools, 120):
        plan = plan_of(question.draft, tools.schema, ids)  # type: ignore[arg-type]
        if len(plan.variables) > 2 or any(len(one.hops) > 1 for one in plan.exclude) or tried[question.draft.kind]:
            continue
        assert Plan.parse(plan.to_json(), tools.schema) == plan, question
        assert answers_of(tools, plan) == set(question.answers), question
        tried[question.draft.kind] += 1
    assert len(tried) >= 7


def test_every_condition_changes_the_answers(tools: Tools) -> None:
    for question in questions(tools, 60):
        draft = question.draft
        if draft.exclusions or draft.order or draft.compared:
            bare = replace(draft, exclusions=(), order=None, compared=None)
            assert set(question.answers) < oracle.answers(tools.graph, tools.schema, bare), question


def test_conditions_are_asked_for_only_on_demand_and_the_other_questions_stay_the_same(tools: Tools) -> None:
    plain, more = list(synthesise(tools, 60, 4)), list(synthesise(tools, 300, 4, conditions=True))
    assert {one.slices["kind"] for one in plain} <= {one.kind for one in KINDS}
    kinds = Counter(one.slices["kind"] for one in more)
    asked = sum(kinds[one.kind] for one in CONDITIONED)
    assert 0.1 < asked / len(more) < 0.7
    assert list(synthesise(tools, 100, 4, conditions=True)) == more[:100]


def test_a_base_in_another_language_is_asked_for_walks_alone(tmp_path_factory: pytest.TempPathFactory) -> None:
    nodes = [("film", f"Film {at}", {"year": 1990 + at}) for at in range(8)] + [("person", "Ada", {})]
    graph, schema = base_of(nodes, [(at, "von", 8) for at in range(8)], language="de", fields={"year": "number"})
    tools = tools_of(tmp_path_factory.mktemp("base"), graph, schema)
    kinds = {one.slices["kind"] for one in synthesise(tools, 40, 0, conditions=True)}
    assert kinds
    assert kinds <= {one.kind for one in KINDS}


def said(make: object, *arguments: object, **options: object) -> set[str]:
    """Return all ways in which something is said."""
    return {make(*arguments, np.random.default_rng(seed), **options) for seed in range(200)}  # type: ignore[operator]


def test_exclusions_are_said_with_the_verb_or_beside_the_noun() -> None:
    told = said(excluded, "directed by {o}", "Ada Holm")
    assert {
        "but not directed by Ada Holm",
        "that are not directed by Ada Holm",
        "except those directed by Ada Holm",
    } <= told
    assert "that do not treat asthma" in said(excluded, "that treat {o}", "asthma")
    assert "that are not made of oak" in said(excluded, "that are made of {o}", "oak")
    assert "without genre horror" in said(excluded, "with genre {o}", "horror")
    assert not [one for one in told if "{" in one]


def test_lacks_are_said_of_anything() -> None:
    told = said(excluded, "cited by {o}", "papers", lack=True)
    assert {"not cited by any papers", "without papers", "with no papers", "that have no papers"} <= told
    assert "that do not treat any diseases" in said(excluded, "that treat {o}", "diseases", lack=True)


THING = NodeType("thing", 3, (Field("weight_g", "number"), Field("founded", "number"), Field("charm", "number")))


def test_orders_are_said_with_the_adjectives_of_the_field() -> None:
    told = said(ordered, Order("weight_g", "desc", 1), THING, "thing of oak", "things of oak")
    assert {"which thing of oak is the heaviest", "the heaviest thing of oak"} <= told
    assert "the thing of oak with the highest weight" in told
    assert not [one for one in told if "light" in one or "lowest" in one]
    several = said(ordered, Order("founded", "asc", 3), THING, "thing", "things")
    assert {"the three oldest things", "the 3 oldest things"} & several
    # A field that no list of adjectives knows.
    assert "the thing with the highest charm" in said(ordered, Order("charm", "desc", 1), THING, "thing", "things")


def test_comparisons_are_said_with_the_adjectives_of_the_field() -> None:
    lighter = said(compared, MadeComparison("weight_g", "<", (1,), 0, "the Lamp"), THING)
    assert {"lighter than the Lamp", "with a lower weight than the Lamp"} <= lighter
    assert not [one for one in lighter if "heav" in one]
    later = said(compared, MadeComparison("founded", ">", (1,), 0, "Omarra"), THING)
    assert {"founded after Omarra", "newer than Omarra"} <= later
