"""The plans that would have found answers, over the films of the planner's tests; sets are counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.fakes import MemoryVectors
from tests.search.stages.plan.films import FILMS, planner_of
from training.evaluation.lost.ways import WaySearch

BY_NAME = {node.name: node for node in FILMS.nodes}
QUESTION = "films that Ann Arbor made"


@pytest.fixture
def planner(tmp_path: Path) -> Planner:
    return planner_of(tmp_path, FILMS)


def looked(planner: Planner, question: str, *names: str):
    vectors = {"document+relations": {node.key: planner.encoder.encode([node.name])[0] for node in FILMS.nodes}}
    search = WaySearch(planner, MemoryVectors(vectors))
    answers = {BY_NAME[name].id: BY_NAME[name].key for name in names}
    return search(question, answers, [], Limit())


def test_the_best_plan_finds_just_the_answers(planner: Planner) -> None:
    ways, plan, said = looked(planner, QUESTION, "Alpha Rising", "Beta Falls")
    assert said == ""
    assert plan is not None
    assert [(hop.rel, hop.direction, hop.to_label) for hop in plan.plan.hops] == [("DIRECTED_BY", "in", "film")]
    assert (plan.f1, plan.found, plan.answers) == (1.0, 2, 2)
    first = ways.ways[0]
    assert first.starts == (frozenset({BY_NAME["Ann Arbor"].id}),)
    assert first.names == ("“Ann Arbor” (person)",)
    # Both answers are the whole list of the plan: neither stands behind a node that is not expected.
    assert set(first.places.values()) == {1}


def test_probabilities_are_those_of_all_scored_plans(planner: Planner) -> None:
    listed = [looked(planner, QUESTION, name)[1] for name in ("Alpha Rising", "Heat")]
    assert all(plan is not None and plan.probability is not None and plan.rank is not None for plan in listed)
    assert sum(plan.probability or 0 for plan in listed if plan) < 1
    assert len({plan.rank for plan in listed if plan}) == 2


def test_a_question_without_names_has_no_plan(planner: Planner) -> None:
    ways, plan, said = looked(planner, "blorble zumpty", "Heat")
    assert (ways.ways, ways.named, plan) == ((), False, None)
    assert said.startswith("The question names no node")


def test_answers_without_a_walk_have_no_plan(planner: Planner) -> None:
    ways, plan, said = looked(planner, "who directed The Kid", "drama")
    assert (ways.ways, ways.unsure, plan) == ((), "", None)
    assert said == "No plan that starts from the names in the question finds an expected answer."
